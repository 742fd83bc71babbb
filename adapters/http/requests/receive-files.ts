import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import busboy, { type Busboy } from "busboy";
import { err, ok, type Result } from "neverthrow";
import type { UploadedFile } from "../../../application/panoramas/upload-images.js";
import { admitRequestSize, admitSizes, type UploadLimits } from "../../../domain/images/upload-rules.js";
import { invalidRequest, WHOLE_BODY } from "../../../domain/invalid-request.js";
import { storeFullOr } from "../../system/full-disk.js";
import type { AdmitFiles } from "../../web-page/page.js";
import type { InvalidMessage } from "../../wording/message-rule.js";
import { hasMetLastBoundary } from "../library-internals.js";
import { invalidMessage } from "../replies/invalid-message.js";
import type { Exchange } from "./exchange.js";

/** Parts of one request, `files` and others together. */
const PARTS_MAX = 50;
const FIELD_BYTES_MAX = 64 * 1024;

const PART_AFTER_END = "Unexpected part after the last boundary";

/** The default type of a part (RFC 7578, 4.4). Many clients send files without a type. */
const UNDECLARED = "text/plain";

/** What a form has beside its files, and who decides whether they are received. */
type FilesForm = { readonly fields?: URLSearchParams; readonly admitFiles?: AdmitFiles | undefined };

/**
 * Streams the parts named `files` of a `multipart/form-data` body into files in `folder`, and stops at the first broken
 * rule. Appends other text parts to `fields`, if given. Calls `admitFiles`, if given, when the first byte of a file
 * arrives; if it resolves to `false`, stops and returns no files. When the promise has settled, nothing writes to the
 * folder any more. Rejects with `StoreFull` if there is no room.
 */
export const receiveFiles = async (
  exchange: Exchange,
  folder: string,
  limits: UploadLimits,
  { fields = new URLSearchParams(), admitFiles }: FilesForm = {},
): Promise<Result<UploadedFile[], InvalidMessage>> => {
  const parser = parserFor(exchange.header("content-type"));
  if (parser.isErr()) return err(parser.error);
  const writes: Promise<void>[] = [];
  try {
    return await receive(exchange, parser.value, { folder, limits, writes, fields, admitFiles });
  } finally {
    parser.value.destroy();
    await Promise.allSettled(writes);
  }
};

type Receiving = {
  readonly folder: string;
  readonly limits: UploadLimits;
  /** One for each file, in order. */
  readonly writes: Promise<void>[];
  readonly fields: URLSearchParams;
  readonly admitFiles: AdmitFiles | undefined;
};

/** How the reception ends. Only the first call counts. */
type End = {
  readonly succeed: (files: UploadedFile[]) => void;
  readonly refuse: (refusal: InvalidMessage) => void;
  readonly fail: (error: unknown) => void;
};

const receive = (exchange: Exchange, parser: Busboy, receiving: Receiving) =>
  new Promise<Result<UploadedFile[], InvalidMessage>>((resolve, reject) => {
    const { limits, writes, fields } = receiving;
    const succeed = (files: UploadedFile[]): void => resolve(ok(files));
    const refuse = (refusal: InvalidMessage): void => resolve(err(refusal));
    const fail = (error: unknown): void => reject(storeFullOr(error));

    const receivedFiles = receiveFileParts(parser, receiving, { succeed, refuse, fail });
    parser.on("field", (name: string | undefined, value, { valueTruncated }) => {
      if (name === "files") refuse(invalidMessage("files", { name: "filename" }));
      if (name === undefined) return;
      if (valueTruncated) refuse(invalidRequest(name, { name: "bytes_max", max: FIELD_BYTES_MAX }));
      fields.append(name, value);
    });
    parser.on("partsLimit", () => refuse(invalidMessage(WHOLE_BODY, { name: "parts_max", max: PARTS_MAX })));
    parser.on("error", (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      refuse(invalidMessage(WHOLE_BODY, { name: "multipart", reason }));
    });
    parser.on("close", () => {
      const files = receivedFiles();
      Promise.all(writes).then(() => succeed(files), fail);
    });

    const feed = (chunk: Buffer): Promise<void> =>
      new Promise((fed) => {
        if (parser.destroyed) fed();
        else parser.write(chunk, () => fed());
      });
    exchange
      .readBody((bytes) => admitRequestSize(bytes, limits), feed)
      .then((read) => {
        if (read.isErr()) refuse(read.error);
        else parser.end();
      }, reject);
  });

/** Writes each part with a file into the folder. Returns a function that lists the files so far. */
const receiveFileParts = (
  parser: Busboy,
  { folder, limits, writes, fields, admitFiles }: Receiving,
  { succeed, refuse, fail }: End,
): (() => UploadedFile[]) => {
  let admitted: Promise<boolean> | undefined;
  const declaredTypes: (string | undefined)[] = [];
  const sizes: number[] = [];
  const pathOf = (index: number): string => join(folder, String(index));

  parser.on("file", (name: string | undefined, content, { mimeType }) => {
    content.on("error", () => {}); // the parser reports the same error
    // The parser goes on after the last boundary if more bytes arrived with it. Such a file would never end.
    if (hasMetLastBoundary(parser)) {
      return refuse(invalidMessage(WHOLE_BODY, { name: "multipart", reason: PART_AFTER_END }));
    }
    if (name !== "files") return void content.resume();
    const index = declaredTypes.push(mimeType === UNDECLARED ? undefined : mimeType) - 1;
    sizes.push(0);
    admitSizes(sizes, limits).mapErr(refuse);
    const counted = async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        // The parser waits for this file to be read, so the rest of it is not received before the decision.
        if (admitFiles !== undefined) {
          admitted ??= admitFiles(fields);
          if (!(await admitted)) return succeed([]);
        }
        sizes[index] = (sizes[index] ?? 0) + chunk.length;
        admitSizes(sizes, limits).mapErr(refuse);
        yield chunk;
      }
    };
    const write = pipeline(content, counted, createWriteStream(pathOf(index)));
    writes.push(write);
    write.catch((error: unknown) => {
      if (!parser.destroyed) fail(error); // a real error, not a request that was cut short
    });
  });
  return () =>
    declaredTypes.map((declaredType, index) => ({
      declaredType,
      sizeBytes: sizes[index] ?? 0,
      read: () => readFile(pathOf(index)),
    }));
};

const parserFor = (contentType: string | undefined): Result<Busboy, InvalidMessage> => {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType ?? "")) {
    return err(
      invalidMessage("Content-Type", { name: "content_type", expected: "multipart/form-data", actual: contentType }),
    );
  }
  try {
    // busboy reports a limit when it is reached; `+ 1` reports it when it is exceeded.
    const limits = { parts: PARTS_MAX + 1, fieldSize: FIELD_BYTES_MAX, headerPairs: 20 };
    return ok(busboy({ headers: { "content-type": contentType }, limits }));
  } catch {
    return err(invalidMessage("Content-Type", { name: "boundary" }));
  }
};
