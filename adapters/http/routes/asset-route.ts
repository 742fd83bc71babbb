import type { Readable } from "node:stream";
import type { Result } from "neverthrow";
import type { UseCases } from "../../../application/create-application.js";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { StorageUnavailable } from "../../../application/ports/object-storage.js";
import { isPicture, type ObjectName, parseObjectName } from "../../../domain/images/object-name.js";
import { FOR_ANY_ORIGIN } from "../../web-page/any-origin.js";
import { isCached } from "../../web-page/cache-headers.js";
import { shown } from "../../wording/shown.js";
import { errorBody, errorReply } from "../replies/errors.js";
import type { Reply } from "../replies/reply.js";
import type { Handler } from "../router.js";

/**
 * `GET /assets/{folder}/{file}`: a stored object. Objects never change, so clients may cache them forever. The image of
 * a panorama that an operator has hidden is not found; its owner sees it on the pages.
 */
export function assetRoute(assets: Assets, isHiddenImage: UseCases["panoramas"]["isHiddenImage"]): Handler {
  return async (exchange) => {
    const path = `${exchange.parameter("folder")}/${exchange.parameter("file")}`;
    const name = parseObjectName(path);
    const none = () => errorReply(notFound(`There is no image ${shown(path)}.`));
    if (name === undefined || !isPicture(name)) return none();
    if (name.startsWith("panoramas/") && (await isHiddenImage({ name }))) return none();
    const found = await assets.stat(name);
    if (found.isErr()) return errorReply(found.error);
    const { sizeBytes, contentType } = found.value;

    const etag = `"${name}"`;
    const headers = {
      "content-type": contentType,
      "x-content-type-options": "nosniff", // an image may contain text that looks like HTML
      "cache-control": "public, max-age=31536000, immutable",
      ...FOR_ANY_ORIGIN, // WebGL refuses textures of other origins without it
      "accept-ranges": "bytes",
      etag,
    };
    const reply = (status: number, start: number, end: number, more = {}): Reply => ({
      status,
      headers: { ...headers, ...more },
      body: { sizeBytes: end - start + 1, open: () => assets.stream(name, start, end) },
    });

    if (isCached(exchange.header("if-none-match"), etag)) return reply(304, 0, sizeBytes - 1);
    const isSameVersion = (exchange.header("if-range") ?? etag) === etag;
    const range = isSameVersion && exchange.method === "GET" ? byteRange(exchange.header("range"), sizeBytes) : "whole";
    if (range === "whole") return reply(200, 0, sizeBytes - 1);
    if (range === "unsatisfiable") {
      const message = `Range: must be within the ${sizeBytes} bytes of the image, but is ${shown(exchange.header("range"))}.`;
      return errorBody(416, "invalid_request", message, { headers: { "content-range": `bytes */${sizeBytes}` } });
    }
    const { start, end } = range;
    return reply(206, start, end, { "content-range": `bytes ${start}-${end}/${sizeBytes}` });
  };
}

/** The offsets of the first and the last byte, both inclusive. */
type ByteRange = { readonly start: number; readonly end: number };

/**
 * Parses a `Range` header (RFC 9110, 14.2) for a body of `sizeBytes`. Returns "whole" for anything but a single range
 * of bytes: the RFC allows a server to ignore it.
 */
export function byteRange(header: string | undefined, sizeBytes: number): ByteRange | "whole" | "unsatisfiable" {
  const [, first = "", last = ""] = /^bytes=\s*([0-9]*)-([0-9]*)\s*$/i.exec(header ?? "") ?? [];
  if (first === "" && last === "") return "whole";
  if (first === "") {
    const start = Math.max(0, sizeBytes - Number(last));
    return start < sizeBytes ? { start, end: sizeBytes - 1 } : "unsatisfiable";
  }
  const start = Number(first);
  const end = last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== "" && Number(last) < start) return "whole";
  return start < sizeBytes ? { start, end } : "unsatisfiable";
}

/** Reads stored objects that this service serves itself. */
export type Assets = {
  stat(
    name: ObjectName,
  ): Promise<Result<{ readonly sizeBytes: number; readonly contentType: string }, NotFound | StorageUnavailable>>;
  /** The bytes from `start` to `end`, both inclusive. */
  stream(name: ObjectName, start: number, end: number): Readable;
};
