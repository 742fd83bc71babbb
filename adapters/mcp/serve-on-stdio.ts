import { type Readable, Transform, type Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { UPLOAD_FILE_BYTES_MAX, UPLOAD_FILES_MAX } from "../../domain/upload-rules.js";

/**
 * The longest message: as many images as one upload may have, each as large as it may be, as base64. Together they may
 * be too large, but that is then a tool error and not the end of the session. The SDK's own limit is 10 MiB.
 */
const MESSAGE_BYTES_MAX = Math.ceil((UPLOAD_FILES_MAX * UPLOAD_FILE_BYTES_MAX * 4) / 3) + 1024 * 1024;

type Streams = { readonly stdin: Readable; readonly stdout: Writable };

/** Resolves when stdin has ended, with all answers given by then written; rejects when it breaks. */
export const serveOnStdio = async (server: Server, { stdin, stdout }: Streams): Promise<void> => {
  const lines = stdin.pipe(wholeLines(MESSAGE_BYTES_MAX));
  const ended = new Promise<void>((resolve, reject) => {
    // What is ready is still answered: some clients close stdin right behind their last request.
    lines.once("end", () => setImmediate(resolve));
    lines.once("error", reject);
    stdin.once("error", reject);
    stdout.once("error", reject);
  });
  await server.connect(new StdioServerTransport(lines, stdout, { maxBufferSize: MESSAGE_BYTES_MAX }));
  await ended;
  await server.close();
  await new Promise<void>((resolve) => stdout.write("", () => resolve()));
};

/** Passes whole lines on: the SDK copies its buffer for each chunk, which takes seconds for a message of many MiB. */
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
