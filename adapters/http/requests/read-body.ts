import { Writable } from "node:stream";
import { err, ok, type Result } from "neverthrow";
import { type InvalidRequest, WHOLE_BODY } from "../../../domain/invalid-request.js";
import { type InvalidMessage, invalidMessage } from "../../wording/rule-predicate.js";
import type { RawExchange } from "../request-source.js";

/**
 * Reads the body of a request in pieces of 16 KiB or more. `admit` checks the declared length, and then the number of
 * bytes received so far; after it has refused, `onChunk` is not called again. The next piece is read when `onChunk` has
 * resolved. Returns an error if the client disconnects, or sends too many tiny chunks.
 */
export const readBody = (
  raw: RawExchange,
  admit: (bytes: number) => Result<void, InvalidRequest>,
  onChunk: (chunk: Buffer) => Promise<void>,
): Promise<Result<void, InvalidMessage>> =>
  new Promise((resolve, reject) => {
    if (raw.closed) return resolve(endedEarly);
    const { "content-length": contentLength, "transfer-encoding": transferEncoding } = raw.headers;
    const encoding = raw.headers["content-encoding"];
    if (encoding !== undefined && COMPRESSED.test(encoding)) return resolve(compressed(encoding));
    const declared = admit(Number(contentLength ?? 0));
    if (declared.isErr()) return resolve(err(declared.error));
    if (Number(contentLength ?? 0) === 0 && transferEncoding === undefined) return resolve(ok(undefined));

    let bytes = 0;
    raw.onDisconnect(() => resolve(endedEarly));
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        const admitted = raw.hasTinyChunks ? tinyChunks : admit(bytes);
        if (admitted.isErr()) {
          resolve(err(admitted.error));
          return done(); // the rest is discarded until the answer is written
        }
        onChunk(chunk).then(() => done(), done);
      },
      final(done) {
        if (raw.closed)
          resolve(endedEarly); // an abort also ends the stream
        // A server of somebody else may pass on a length that is not that of the body.
        else resolve(contentLength !== undefined && Number(contentLength) !== bytes ? twoLengths : ok(undefined));
        done();
      },
    });
    sink.once("error", reject);
    raw.pipe(sink);
  });

/** The client has disconnected, or has sent bytes after the body that ended the connection. */
export const endedEarly = err(invalidMessage(WHOLE_BODY, { name: "complete" }));
const tinyChunks = err(invalidMessage(WHOLE_BODY, { name: "chunks" }));
/** Not what means nothing, such as `identity` or, from some clients, `utf-8`. */
const COMPRESSED = /\b(gzip|deflate|br|zstd|compress)\b/i;
const compressed = (actual: string) => err(invalidMessage("Content-Encoding", { name: "content_encoding", actual }));
const twoLengths = err(invalidMessage("Content-Length", { name: "one_length" }));
