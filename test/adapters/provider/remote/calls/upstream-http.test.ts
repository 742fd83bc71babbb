import { once } from "node:events";
import type { Server } from "node:http";
import { setImmediate } from "node:timers/promises";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UpstreamHttp } from "../../../../../adapters/provider/remote/calls/upstream-http.js";
import { type LocalServer, startLocalServer } from "../../../../support/local-server.js";

describe("UpstreamHttp", () => {
  let local: LocalServer;
  let server: Server;
  let connections: number;
  let answers: boolean;
  let http: UpstreamHttp;

  beforeEach(async () => {
    connections = 0;
    answers = true;
    local = await startLocalServer((request, response) => {
      request.resume();
      if (answers) response.end("{}");
    });
    ({ server } = local);
    server.on("connection", () => {
      connections += 1;
    });
    http = new UpstreamHttp();
  });
  afterEach(async () => {
    await http.close();
    await local.close();
  });

  const create = (mayBeSent?: () => boolean) =>
    http.call({
      method: "POST",
      url: `${local.origin}/tasks`,
      headers: {},
      body: {},
      signal: new AbortController().signal,
      ...(mayBeSent && { mayBeSent }),
    });
  it("asks when the connection is open whether a request may be sent, and sends nothing if not", async () => {
    let requests = 0;
    server.on("request", () => {
      requests += 1;
    });
    const connectionsWhenAsked: number[] = [];
    const answer = (allowed: boolean) => () => {
      connectionsWhenAsked.push(connections);
      return allowed;
    };
    expect(await create(answer(true))).toEqual(ok({ status: 200, retryAfter: undefined, body: {} }));
    expect(await create(answer(false))).toEqual(
      err({ kind: "too_late", reason: "the time to send the creation was over" }),
    );
    expect(connectionsWhenAsked).toHaveLength(2);
    expect(Math.min(...connectionsWhenAsked)).toBeGreaterThan(0);
    expect(requests).toBe(1);
  });

  it("sends a creation on the connection of the one before, and closes it when there is none for about a second", async () => {
    const closed = once(server, "connection").then(([socket]) => once(socket, "close"));
    for (let n = 0; n < 3; n += 1) {
      expect(await create()).toEqual(ok({ status: 200, retryAfter: undefined, body: {} }));
      await setImmediate(); // the connection is free a moment after the end of the answer
    }
    expect(connections).toBe(1);
    await closed;
    await create();
    expect(connections).toBe(2);
  });

  it("does not repeat a creation whose kept connection the provider closes at the moment of the write", async () => {
    await create();
    await setImmediate();
    let received = 0;
    server.prependListener("request", (request) => {
      received += 1;
      request.socket.destroy();
    });
    expect(await create()).toEqual(err({ kind: "no_answer", reason: "UND_ERR_SOCKET" }));
    expect(received).toBe(1);
  });

  it("ends a creation in flight when it is closed", async () => {
    answers = false;
    const requested = once(server, "request");
    const creation = create();
    await requested;
    await http.close();
    expect(await creation).toEqual(err({ kind: "no_answer", reason: expect.any(String) }));
  });
});
