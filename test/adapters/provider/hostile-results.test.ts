import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { PublicFetch } from "../../../adapters/provider/public-fetch.js";

const limits = { bytesMax: 1_000, timeoutMilliseconds: 1_000 };
/** A busy machine is slower than the time limit of the fetch. */
const MILLISECONDS_MAX = 10_000;
/** So that this process does not only write. */
const SENT_BYTES_MAX = 200_000_000;

/** Writes the same text again and again, as fast as it is read. */
const endlessly = (socket: Socket, text: string) => {
  const piece = text.repeat(Math.ceil(64_000 / text.length));
  const more = () => {
    while (!socket.destroyed && socket.bytesWritten < SENT_BYTES_MAX && socket.write(piece));
  };
  socket.on("drain", more);
  more();
};

/** What a server may do with a connection, once the request has arrived. */
const HOSTILE: Readonly<Record<string, (socket: Socket) => void>> = {
  "no HTTP at all": (socket) => endlessly(socket, "spam and eggs\n"),
  "headers without end": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    endlessly(socket, "x-more: yes\r\n");
  },
  "one header without end": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nx-long: ");
    endlessly(socket, "a");
  },
  "preliminary answers without end": (socket) => endlessly(socket, "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"),
  "a body without end": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    endlessly(socket, "body");
  },
  "chunks of one byte without end": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    endlessly(socket, "1\r\na\r\n");
  },
  "a chunk extension without end": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;");
    endlessly(socket, "extension");
  },
  "trailers without end": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n");
    endlessly(socket, "x-more: yes\r\n");
  },
  "a length that is not true": (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nshort"),
  "two lengths": (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 5\r\n\r\nshort"),
  "a length and chunks": (socket) =>
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n0\r\n\r\n"),
  "a redirect to a URL of 34 kB": (socket) =>
    socket.write(`HTTP/1.1 302 Found\r\nlocation: https://a.example/${"a".repeat(34_000)}\r\n\r\n`),
  "a redirect whose body has no end": (socket) => {
    socket.write("HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n");
    endlessly(socket, "body");
  },
  "a redirect to a file": (socket) => socket.write("HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\n\r\n"),
  "a redirect to data": (socket) => socket.write("HTTP/1.1 302 Found\r\nlocation: data:image/png;base64,AA==\r\n\r\n"),
  "a switch of protocols": (socket) =>
    socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"),
  "an end before the answer": (socket) => socket.end(),
  "a cut in the middle of the headers": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nx-a:");
    setImmediate(() => socket.resetAndDestroy());
  },
  "an error with a body without end": (socket) => {
    socket.write("HTTP/1.1 500 Oops\r\n\r\n");
    endlessly(socket, "body");
  },
};

describe("PublicFetch of a hostile server", () => {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const fetchers: PublicFetch[] = [];

  const aServer = async (behave: (socket: Socket) => void): Promise<string> => {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
      // Further requests may arrive on the same connection.
      socket.on("data", () => behave(socket));
    }).listen(0, "127.0.0.1");
    servers.push(server);
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return `http://127.0.0.1:${address.port}`;
  };
  /** The exempt origin stands for a public host. */
  const aFetch = (origin: string): PublicFetch => {
    const fetcher = new PublicFetch([origin]);
    fetchers.push(fetcher);
    return fetcher;
  };
  afterEach(async () => {
    await Promise.all(fetchers.splice(0).map((fetcher) => fetcher.close()));
    for (const socket of sockets) socket.destroy();
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  });

  it.each(Object.entries(HOSTILE))("fails in time and stops reading after %s", async (_, behave) => {
    const origin = await aServer(behave);
    const from = performance.now();
    const fetched = await aFetch(origin).get(`${origin}/`, limits);
    expect(performance.now() - from).toBeLessThan(MILLISECONDS_MAX);
    expect(fetched._unsafeUnwrapErr().reason).not.toBe("");
    const sent = () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
    // Nothing goes on being read: what a server still writes stays in the buffers of its own side.
    await expect
      .poll(async () => {
        const before = sent();
        await new Promise((resolve) => setTimeout(resolve, 50));
        return sent() - before;
      })
      .toBe(0);
  });

  it("does not decompress a body", async () => {
    const bomb = gzipSync(Buffer.alloc(500_000));
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
    const origin = await aServer((socket) => socket.write(Buffer.concat([Buffer.from(head), bomb])));
    const fetched = await aFetch(origin).get(`${origin}/`, limits);
    expect(Buffer.from(fetched._unsafeUnwrap().bytes).equals(bomb)).toBe(true);
  });
});
