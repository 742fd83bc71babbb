import { ok } from "neverthrow";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Listener } from "../../../adapters/http/listener.js";
import { Overload } from "../../../adapters/http/overload.js";
import { json } from "../../../adapters/http/reply.js";
import { makeServer } from "../../support/make-server.js";
import { RawConnection } from "../../support/raw-connection.js";

const MIB = 1024 * 1024;
const SIZE = 64 * MIB;

describe("readBody", () => {
  const listener = new Listener(
    { run: (_id, work) => work(), finished: () => {}, failed: () => {}, overloaded: () => {} },
    makeServer(),
    new Overload(() => false),
  );
  let taken = 0;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });

  beforeAll(async () => {
    listener.route("post", "/slowly", async (exchange) => {
      const read = await exchange.readBody(
        () => ok(undefined),
        async (chunk) => {
          taken += chunk.length;
          await held;
        },
      );
      return json(200, { complete: read.isOk() });
    });
    await listener.listen("127.0.0.1", 0);
  });
  afterAll(() => listener.stop(0));

  it("reads no faster than its chunks are processed, so that the rest waits at the client and not in memory", async () => {
    const connection = await RawConnection.open(listener.port);
    connection.send(`POST /slowly HTTP/1.1\r\nhost: x\r\ncontent-length: ${SIZE}\r\n\r\n`);
    const sent = connection.sendAll(new Uint8Array(SIZE));
    for (let before = -1; taken === 0 || before !== connection.socket.bytesWritten; ) {
      before = connection.socket.bytesWritten;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // One chunk is processed. Apart from it, only the buffers of the kernel are filled.
    expect(taken).toBeLessThan(MIB);
    expect(connection.socket.bytesWritten - connection.socket.writableLength).toBeLessThan(SIZE / 2);

    release();
    await sent;
    expect(await connection.response()).toContain('{"complete":true}');
    expect(taken).toBe(SIZE);
    connection.close();
  });
});
