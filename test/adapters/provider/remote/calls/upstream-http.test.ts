import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UpstreamHttp } from "../../../../../adapters/provider/remote/calls/upstream-http.js";

describe("UpstreamHttp", () => {
  let server: Server;
  let connections: number;
  let answers: boolean;
  let http: UpstreamHttp;

  beforeEach(async () => {
    connections = 0;
    answers = true;
    server = createServer((request, response) => {
      request.resume();
      if (answers) response.end("{}");
    });
    server.on("connection", () => {
      connections += 1;
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    http = new UpstreamHttp();
  });
  afterEach(async () => {
    await http.close();
    server.closeAllConnections();
    server.close();
  });

  const create = () =>
    http.call({
      method: "POST",
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tasks`,
      headers: {},
      body: {},
      signal: new AbortController().signal,
    });
  it("sends each creation on a new connection and closes it", async () => {
    const closed: Promise<unknown>[] = [];
    server.on("connection", (socket) => closed.push(once(socket, "close")));
    for (let n = 0; n < 3; n += 1) expect(await create()).toEqual(ok({ status: 200, retryAfter: undefined, body: {} }));
    expect(connections).toBe(3);
    await Promise.all(closed);
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
