import { type Readable, Transform, type Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { panoramaMcpServer } from "./panorama-mcp-server.js";

/**
 * Enough for five images of 19 MiB as base64: an installation can allow more than the usual 10 MiB. Images above its
 * limits are a tool error and do not end the session. The default of the SDK is 10 MiB.
 */
const MESSAGE_BYTES_MAX = 128 * 1024 * 1024;

/** How long answers may take that are not written when stdin ends. */
const LAST_ANSWERS_MILLISECONDS = 1_000;

type Streams = { readonly stdin: Readable; readonly stdout: Writable };

/**
 * Serves clients of both generations of the protocol. Resolves when stdin has ended and the last answers are written.
 * Rejects if a stream fails.
 */
export const serveOnStdio = async (
  servers: ReturnType<typeof panoramaMcpServer>,
  { stdin, stdout }: Streams,
  log: (line: string) => void,
): Promise<void> => {
  const lines = wholeLines(MESSAGE_BYTES_MAX);
  const ended = new Promise<void>((resolve, reject) => {
    stdin.once("end", resolve);
    stdin.once("error", reject);
    lines.once("error", reject);
    stdout.once("error", reject);
  });
  const transport = new StdioServerTransport(lines, stdout, { maxBufferSize: MESSAGE_BYTES_MAX });
  const unanswered = countUnanswered(transport);
  const handle = serveStdio(servers, {
    transport,
    onerror: ({ message }) => log(`protocol: ${message.slice(0, 200)}`),
  });
  // The transport would drop what is not answered yet, so it does not see the end of stdin.
  stdin.pipe(lines, { end: false });
  await ended;
  // Some clients close stdin immediately after their last request.
  const deadline = Date.now() + LAST_ANSWERS_MILLISECONDS;
  do await new Promise((resolve) => setTimeout(resolve, 5));
  while (unanswered() > 0 && Date.now() < deadline);
  await handle.close();
  await new Promise<void>((resolve) => stdout.write("", () => resolve()));
};

/** Counts the requests that have no answer yet. Call it before the transport is used. */
const countUnanswered = (transport: Transport): (() => number) => {
  const open = new Set<unknown>();
  let receive: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    get: () => receive,
    set: (handler: NonNullable<Transport["onmessage"]>) => {
      receive = (message: JSONRPCMessage, extra) => {
        if ("method" in message && "id" in message) open.add(message.id);
        handler(message, extra);
      };
    },
  });
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    await send(message, options);
    if (!("method" in message)) open.delete(message.id);
  };
  return () => open.size;
};

/** Emits whole lines only: the SDK copies its buffer for each chunk, which takes seconds for a message of many MiB. */
const wholeLines = (bytesMax: number): Transform => {
  let parts: Buffer[] = [];
  let bytes = 0;
  return new Transform({
    readableHighWaterMark: bytesMax,
    transform(chunk: Buffer, _encoding, done) {
      const end = chunk.lastIndexOf("\n") + 1;
      if (end > 0) {
        this.push(Buffer.concat([...parts, chunk.subarray(0, end)]));
        parts = [];
        bytes = 0;
      }
      if (end < chunk.length) parts.push(chunk.subarray(end));
      bytes += chunk.length - end;
      done(bytes > bytesMax ? new Error(`a message has more than ${bytesMax} bytes`) : null);
    },
  });
};
