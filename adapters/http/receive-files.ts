import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import busboy, { type Busboy } from "busboy";
import { err, ok, type Result } from "neverthrow";
import type { UploadedFile } from "../../application/panoramas/upload-images.js";
import { type InvalidRequest, invalidRequest, shown } from "../../domain/invalid-request.js";
import { admitRequestSize, admitSizes } from "../../domain/upload-rules.js";
import type { Exchange } from "./exchange.js";

/** Parts of one request, `files` and others together. */
const PARTS_MAX = 50;
const FIELD_BYTES_MAX = 64 * 1024;

/** The default type of a part (RFC 7578, 4.4). Many clients send files without a type. */
const UNDECLARED = "text/plain";

/**
 * Streams the parts named `files` of a `multipart/form-data` body into files in `folder`, and stops at the first broken
 * rule. Appends other text parts to `fields`, if given. When the promise has settled, nothing writes to the folder any
 * more.
 */
export const receiveFiles = async (
  exchange: Exchange,
  folder: string,
  fields?: URLSearchParams,
): Promise<Result<UploadedFile[], InvalidRequest>> => {
  const parser = parserFor(exchange.header("content-type"));
  if (parser.isErr()) return err(parser.error);
  const writes: Promise<void>[] = [];
  try {
    return await receive(exchange, parser.value, folder, writes, fields);
  } finally {
    parser.value.destroy();
    await Promise.allSettled(writes);
  }
};

const receive = (
  exchange: Exchange,
  parser: Busboy,
  folder: string,
  writes: Promise<void>[],
  fields: URLSearchParams | undefined,
) =>
  new Promise<Result<UploadedFile[], InvalidRequest>>((resolve, reject) => {
    const refuse = (refusal: InvalidRequest): void => resolve(err(refusal));
    const declaredTypes: (string | undefined)[] = [];
    const sizes: number[] = [];
    const pathOf = (index: number): string => join(folder, String(index));

    parser.on("file", (name: string | undefined, content, { mimeType }) => {
      content.on("error", () => {}); // the parser reports the same error
      if (name !== "files") return void content.resume();
      const index = declaredTypes.push(mimeType === UNDECLARED ? undefined : mimeType) - 1;
      sizes.push(0);
      admitSizes(sizes).mapErr(refuse);
      const counted = async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          sizes[index] = (sizes[index] ?? 0) + chunk.length;
          admitSizes(sizes).mapErr(refuse);
          yield chunk;
        }
      };
      const write = pipeline(content, counted, createWriteStream(pathOf(index)));
      writes.push(write);
      write.catch((error: unknown) => {
        if (!parser.destroyed) reject(error); // a real error such as a full disk, not a request that was cut short
      });
    });
    parser.on("field", (name: string | undefined, value, { valueTruncated }) => {
      if (name === "files") refuse(invalidRequest("files: must be files, but one of these parts has no filename."));
      if (name === undefined || fields === undefined) return;
      if (valueTruncated) refuse(invalidRequest(`${name}: must have at most ${FIELD_BYTES_MAX} bytes.`));
      fields.append(name, value);
    });
    parser.on("partsLimit", () => refuse(invalidRequest(`request body: must have at most ${PARTS_MAX} parts.`)));
    parser.on("error", (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      refuse(invalidRequest(`request body: must be complete multipart/form-data, but cannot be parsed: ${reason}.`));
    });
    parser.on("close", () => {
      const files = declaredTypes.map((declaredType, index) => ({
        declaredType,
        sizeBytes: sizes[index] ?? 0,
        read: () => readFile(pathOf(index)),
      }));
      Promise.all(writes).then(() => resolve(ok(files)), reject);
    });

    const feed = (chunk: Buffer): Promise<void> =>
      new Promise((fed) => {
        if (parser.destroyed) fed();
        else parser.write(chunk, () => fed());
      });
    exchange.readBody(admitRequestSize, feed).then((read) => {
      if (read.isErr()) refuse(read.error);
      else parser.end();
    }, reject);
  });

const parserFor = (contentType: string | undefined): Result<Busboy, InvalidRequest> => {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType ?? "")) {
    return err(invalidRequest(`Content-Type: must be multipart/form-data, but is ${shown(contentType)}.`));
  }
  try {
    // busboy reports a limit when it is reached; `+ 1` reports it when it is exceeded.
    const limits = { parts: PARTS_MAX + 1, fieldSize: FIELD_BYTES_MAX, headerPairs: 20 };
    return ok(busboy({ headers: { "content-type": contentType }, limits }));
  } catch {
    return err(invalidRequest("Content-Type: multipart/form-data needs a boundary."));
  }
};
