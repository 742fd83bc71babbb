import { ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Overload } from "../../../../adapters/http/limits/overload.js";
import { json } from "../../../../adapters/http/replies/reply.js";
import type { Server } from "../../../../adapters/http/request-source.js";
import { Senders } from "../../../../adapters/http/requests/senders.js";
import { Router } from "../../../../adapters/http/router.js";
import { makeServer } from "../../../support/make-server.js";
import { RawConnection } from "../../../support/raw-connection.js";

const MIB = 1024 * 1024;
const SIZE = 64 * MIB;

describe("readBody", () => {
  let listener: Router<Server>;
  let taken: number;
  let release: () => void;
  let complete: boolean | undefined;

  beforeEach(async () => {
    listener = new Router(
      { run: (_id, work) => work(), finished: () => {}, failed: () => {}, overloaded: () => {} },
      makeServer(),
      new Overload(() => false, new Senders([])),
    );
    taken = 0;
    complete = undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    listener.route("post", "/slowly", async (exchange) => {
      const read = await exchange.readBody(
        () => ok(undefined),
        async (chunk) => {
          taken += chunk.length;
          await held;
        },
      );
      complete = read.isOk();
      return json(200, { complete });
    });
    await listener.source.listen("127.0.0.1", 0);
  });
  afterEach(() => listener.stop(0));

  /** Sends a large body, until no more of it is received. */
  const sendUntilFull = async () => {
    const connection = await RawConnection.open(listener.source.port);
    connection.send(`POST /slowly HTTP/1.1\r\nhost: x\r\ncontent-length: ${SIZE}\r\n\r\n`);
    const sent = connection.sendAll(new Uint8Array(SIZE));
    for (let before = -1; taken === 0 || before !== connection.socket.bytesWritten; ) {
      before = connection.socket.bytesWritten;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return { connection, sent };
  };

  it("reads only as fast as chunks are processed", async () => {
    const { connection, sent } = await sendUntilFull();
    // One chunk is processed. Apart from it, only the buffers of the kernel are filled.
    expect(taken).toBeLessThan(MIB);
    expect(connection.socket.bytesWritten - connection.socket.writableLength).toBeLessThan(SIZE / 2);

    release();
    await sent;
    expect(await connection.response()).toContain('{"complete":true}');
    expect(taken).toBe(SIZE);
    connection.close();
  });

  it("returns an error if the connection is closed while the body waits", async () => {
    const { connection } = await sendUntilFull();
    await listener.stop(0);
    release();
    await expect.poll(() => complete).toBe(false);
    connection.close();
  });
});
