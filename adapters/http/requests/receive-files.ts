import { err, ok, type Result } from "neverthrow";
import type { UploadedFile } from "../../../application/panoramas/uploads.js";
import { admitRequestSize, type UploadLimits } from "../../../domain/images/upload-rules.js";
import { storeFullOr } from "../../system/files.js";
import type { AdmitFiles } from "../../web-page/page.js";
import { type InvalidMessage, invalidMessage } from "../../wording/rule-predicate.js";
import type { Exchange } from "./exchange.js";
import { MultipartReader } from "./multipart-reader.js";
import { parametersOf } from "./part-headers.js";
import { malformed, ReceivedParts } from "./received-parts.js";

/** Fields of a form, and the check before its files are received. */
type FilesForm = {
  readonly fields?: URLSearchParams;
  readonly admitFiles?: AdmitFiles | undefined;
  /** Reads no more than these bytes of the body, and then stops as if no files were admitted. */
  readonly bytesMax?: number | undefined;
};

/**
 * Streams the parts named `files` of a `multipart/form-data` body into files in `folder`, and stops at the first broken
 * rule: there is a file for every such part, or none at all. Appends other text parts to `fields`, if given. Calls
 * `admitFiles`, if given, when the first byte of a file arrives; if it resolves to `false`, stops and returns no files.
 * When the promise has settled, nothing writes to the folder any more. Rejects with `StoreFull` if there is no room.
 */
export const receiveFiles = async (
  exchange: Exchange,
  folder: string,
  limits: UploadLimits,
  { fields = new URLSearchParams(), admitFiles, bytesMax = Infinity }: FilesForm = {},
): Promise<Result<UploadedFile[], InvalidMessage>> => {
  const boundary = boundaryOf(exchange.header("content-type"));
  if (boundary.isErr()) return err(boundary.error);
  const parts = new ReceivedParts({ folder, limits, fields, admitFiles });
  let feeding = Promise.resolve();
  try {
    return await new Promise((resolve, reject) => {
      const reader = new MultipartReader(boundary.value);
      let isOver = false;
      let left = bytesMax;
      const end = (result: Result<UploadedFile[], InvalidMessage>): void => {
        isOver = true;
        resolve(result);
      };
      const feed = async (chunk: Buffer): Promise<void> => {
        for (const piece of isOver ? [] : reader.read(chunk.subarray(0, left))) {
          const taken = await parts.take(piece);
          if (isOver) return;
          if (taken.isErr()) return end(err(taken.error));
          if (taken.value === "unwanted") return end(ok([]));
        }
        left -= chunk.length;
        if (left < 0) end(ok([]));
      };
      const feedSafely = (chunk: Buffer): Promise<void> => {
        feeding = feed(chunk).catch((error: unknown) => {
          isOver = true;
          reject(storeFullOr(error));
        });
        return feeding;
      };
      exchange
        .readBody((bytes) => admitRequestSize(bytes, limits), feedSafely)
        .then((read) => {
          const missing = reader.missing();
          if (read.isErr()) end(err(read.error));
          else end(missing === undefined ? ok(parts.files()) : malformed(missing));
        }, reject);
    });
  } finally {
    await feeding;
    await parts.close().catch(() => {}); // it was refused or has failed already
  }
};

const boundaryOf = (contentType = ""): Result<string, InvalidMessage> => {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType)) {
    const actual = contentType === "" ? undefined : contentType;
    return err(invalidMessage("Content-Type", { name: "content_type", expected: "multipart/form-data", actual }));
  }
  const boundary = parametersOf(contentType).find(({ key }) => key === "boundary")?.value;
  return boundary && boundary.length <= BOUNDARY_CHARACTERS_MAX
    ? ok(boundary)
    : err(invalidMessage("Content-Type", { name: "boundary" }));
};

/** RFC 2046, 5.1.1. Dart's client sends exactly so many. */
const BOUNDARY_CHARACTERS_MAX = 70;
