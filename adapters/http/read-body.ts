import { Writable } from "node:stream";
import type { Request, Response } from "hyper-express";
import { err, ok, type Result } from "neverthrow";
import { type InvalidRequest, invalidRequest, WHOLE_BODY } from "../../domain/invalid-request.js";

/**
 * Reads a request's body chunk by chunk. `admit` decides on the length that the client declares, and then on the bytes
 * that have come so far; once it refuses, nothing more is read. The next chunk waits until `take` has dealt with the
 * last one. A client that goes away ends the body with an error that nobody will read.
 *
 * hyper-express's own body methods are no use here: they take malformed JSON for `{}`, and never settle, or crash, when
 * the client goes away.
 */
export const readBody = (
  request: Request,
  response: Response,
  admit: (bytes: number) => Result<void, InvalidRequest>,
  take: (chunk: Buffer) => Promise<void>,
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
          return done(); // the rest flows by unused until the answer is written
        }
        take(chunk).then(() => done(), done);
      },
      final(done) {
        resolve(response.completed ? endedEarly : ok(undefined)); // an abort ends the stream like a normal end
        done();
      },
    });
    sink.once("error", reject);
    request.pipe(sink, {}); // the only thing that starts the stream
  });

const endedEarly = err(invalidRequest(WHOLE_BODY, { name: "complete" }));
const unknownEncoding = err(invalidRequest("Transfer-Encoding", { name: "transfer_encoding" }));
