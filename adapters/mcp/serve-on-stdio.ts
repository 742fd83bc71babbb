import { type Readable, Transform, type Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { Offer } from "../client/offer.js";

/**
 * Enough for the maximum number of images of the maximum size as base64. Such images may exceed the total limit of an
 * upload; that is a tool error and does not end the session. The default of the SDK is 10 MiB.
 */
const messageBytesMax = ({ files, file_bytes }: Offer["uploads"]): number =>
  Math.ceil((files * file_bytes * 4) / 3) + 1024 * 1024;

type Streams = { readonly stdin: Readable; readonly stdout: Writable };

/** Resolves when stdin has ended and all finished answers are written. Rejects if a stream fails. */
export const serveOnStdio = async (
  server: Server,
  { stdin, stdout }: Streams,
  uploads: Offer["uploads"],
): Promise<void> => {
  const bytesMax = messageBytesMax(uploads);
  const lines = stdin.pipe(wholeLines(bytesMax));
  const ended = new Promise<void>((resolve, reject) => {
    // Some clients close stdin immediately after their last request: answers that are ready are still written.
    lines.once("end", () => setImmediate(resolve));
    lines.once("error", reject);
    stdin.once("error", reject);
    stdout.once("error", reject);
  });
  await server.connect(new StdioServerTransport(lines, stdout, { maxBufferSize: bytesMax }));
  await ended;
  await server.close();
  await new Promise<void>((resolve) => stdout.write("", () => resolve()));
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
