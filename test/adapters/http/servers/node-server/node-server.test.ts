import { connect } from "node:net";
import { ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Overload } from "../../../../../adapters/http/limits/overload.js";
import { json } from "../../../../../adapters/http/replies/reply.js";
import type { Server } from "../../../../../adapters/http/request-source.js";
import type { Exchange } from "../../../../../adapters/http/requests/exchange.js";
import { Senders } from "../../../../../adapters/http/requests/senders.js";
import { Router } from "../../../../../adapters/http/router.js";
import { NodeServer } from "../../../../../adapters/http/servers/node-server/node-server.js";
import type { FinishedRequest } from "../../../../../application/ports/reporter.js";
import { RawConnection } from "../../../../support/raw-connection.js";

const MIB = 1024 * 1024;

/** What only the server on `node:http` does. The other tests of this folder run on both servers. */
describe("NodeServer", () => {
  let listener: Router<Server>;
  let finished: FinishedRequest[];
  let failures: unknown[];
  let release: () => void;
  let received: number;
  let started: number;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    finished = [];
    failures = [];
    received = 0;
    started = 0;
    const observer = {
      run: (_id: string, work: () => unknown) => {
        started += 1;
        work();
      },
      finished: (exchange: FinishedRequest) => void finished.push(exchange),
      failed: (_id: string, error: unknown) => void failures.push(error),
      overloaded: () => {},
    };
    listener = new Router(observer, new NodeServer(), new Overload(() => false, new Senders([])));
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const read = (exchange: Exchange, onChunk: () => Promise<void>) =>
      exchange.readBody(
        () => ok(undefined),
        async (chunk) => {
          received += chunk.length;
          await onChunk();
        },
      );
    listener.route("post", "/fast", async (exchange) => json(200, (await read(exchange, async () => {})).isOk()));
    listener.route("post", "/slow", async (exchange) => json(200, (await read(exchange, () => released)).isOk()));
    listener.route("get", "/wait", async ({ signal }) => {
      await Promise.race([released, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
      return json(200, signal.aborted);
    });
    listener.route("get", "/large", () => ({ status: 200, headers: {}, body: new Uint8Array(32 * MIB) }));
    await listener.source.listen("127.0.0.1", 0);
  });
  afterEach(async () => {
    await listener.stop(0);
    vi.useRealTimers();
    expect(failures).toEqual([]);
  });

  const head = (method: string, path: string, length = 0) =>
    `${method} ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`;
  const tenSeconds = () => vi.advanceTimersByTime(10_000);

  it("closes the connection of a body that arrives slower than 16 kB/s", async () => {
    const connection = await RawConnection.open(listener.source.port);
    connection.send(head("POST", "/fast", 500_000));
    await expect.poll(() => started).toBe(1);
    let sent = 0;
    for (const bytes of [170_000, 159_000]) {
      await connection.sendAll(new Uint8Array(bytes));
      sent += bytes;
      await expect.poll(() => received).toBeGreaterThan(sent - 16 * 1024); // the rest waits for a whole piece
      expect(connection.socket.closed).toBe(false);
      tenSeconds();
    }
    expect(await connection.response()).toBe("");
    await expect.poll(() => finished).toMatchObject([{ route: "/fast", aborted: true }]);
  });

  it("waits without a limit while the service processes a received request", async () => {
    const connection = await RawConnection.open(listener.source.port);
    connection.send(head("POST", "/slow", 4 * MIB));
    const sent = connection.sendAll(new Uint8Array(4 * MIB));
    for (let before = -1; received === 0 || before !== connection.socket.bytesWritten; ) {
      before = connection.socket.bytesWritten;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    tenSeconds();
    tenSeconds();
    release();
    await sent;
    expect(await connection.response()).toMatch(/\r\n\r\ntrue$/);
    connection.close();
  });

  it("closes the connection without an error body that would look like the answer to an earlier request", async () => {
    const connection = await RawConnection.open(listener.source.port);
    connection.send(`${head("GET", "/wait")}broken\r\n\r\n`);
    expect(await connection.response()).toBe("");
    await expect.poll(() => finished).toMatchObject([{ route: "/wait", aborted: true }]);
  });

  it("ends the waits of all requests of a connection when the client disconnects", async () => {
    const connection = await RawConnection.open(listener.source.port);
    connection.send(head("GET", "/wait") + head("GET", "/wait"));
    await expect.poll(() => started).toBe(2);
    connection.close();
    await expect.poll(() => finished.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it("delivers an answer completely that a client reads slowly while the server stops", async () => {
    const client = connect(listener.source.port, "127.0.0.1");
    client.write(head("GET", "/large"));
    await expect.poll(() => started).toBe(1);
    const stopped = listener.stop(30_000);
    let bytes = 0;
    for await (const chunk of client) bytes += (chunk as Buffer).length;
    expect(bytes).toBeGreaterThan(32 * MIB);
    await stopped;
    expect(finished).toMatchObject([{ route: "/large", aborted: false }]);
  });

  it("reports an answer as aborted that the client has not received by the deadline of the stop", async () => {
    const connection = await RawConnection.open(listener.source.port);
    connection.socket.pause();
    connection.send(head("GET", "/large"));
    await expect.poll(() => started).toBe(1);
    await listener.stop(50);
    await expect.poll(() => finished).toMatchObject([{ route: "/large", aborted: true }]);
    connection.close();
  });
});
