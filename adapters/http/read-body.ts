import { Writable } from "node:stream";
import type { Request, Response } from "hyper-express";
import { err, ok, type Result } from "neverthrow";
import { type InvalidRequest, invalidRequest, WHOLE_BODY } from "../../domain/invalid-request.js";

/**
 * Reads the body of a request chunk by chunk. `admit` checks the declared length, and then the number of bytes received
 * so far; after it has refused, `onChunk` is not called again. The next chunk is read when `onChunk` has resolved.
 * Returns an error if the client disconnects.
 *
 * The body methods of hyper-express are not used: they parse malformed JSON as `{}`, and they never settle, or
 * crash, if the client disconnects.
 */
export const readBody = (
  request: Request,
  response: Response,
  admit: (bytes: number) => Result<void, InvalidRequest>,
  onChunk: (chunk: Buffer) => Promise<void>,
): Promise<Result<void, InvalidRequest>> =>
  new Promise((resolve, reject) => {
    if (response.completed) return resolve(endedEarly);
    const { "content-length": contentLength, "transfer-encoding": transferEncoding } = request.headers;
    if (transferEncoding !== undefined && transferEncoding !== "chunked") return resolve(unknownEncoding);
    const declared = admit(Number(contentLength ?? 0));
    if (declared.isErr()) return resolve(err(declared.error));
    if (Number(contentLength ?? 0) === 0 && transferEncoding === undefined) return resolve(ok(undefined));

    let bytes = 0;
    response.once("abort", () => resolve(endedEarly));
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        const admitted = admit(bytes);
        if (admitted.isErr()) {
          resolve(err(admitted.error));
          return done(); // the rest is discarded until the answer is written
        }
        onChunk(chunk).then(() => done(), done);
      },
      final(done) {
        if (response.completed)
          resolve(endedEarly); // an abort also ends the stream
        // The server reads as many bytes as the first of several headers says; here is the last one.
        else resolve(contentLength !== undefined && Number(contentLength) !== bytes ? twoLengths : ok(undefined));
        done();
      },
    });
    sink.once("error", reject);
    request.pipe(sink, {}); // starts the stream
  });

const endedEarly = err(invalidRequest(WHOLE_BODY, { name: "complete" }));
const unknownEncoding = err(invalidRequest("Transfer-Encoding", { name: "transfer_encoding" }));
const twoLengths = err(invalidRequest("Content-Length", { name: "one_length" }));
