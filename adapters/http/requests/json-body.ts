import { err, ok, type Result } from "neverthrow";
import { type InvalidRequest, invalidRequest, WHOLE_BODY } from "../../../domain/invalid-request.js";
import { type InvalidMessage, invalidMessage } from "../../wording/rule-predicate.js";
import type { Exchange } from "./exchange.js";

/** Reads the whole body into memory. Refuses a body of more than `bytesMax` bytes without reading it to its end. */
export const readBytes = async (exchange: Exchange, bytesMax: number): Promise<Result<Buffer, InvalidMessage>> => {
  const chunks: Buffer[] = [];
  const admit = (bytes: number): Result<void, InvalidRequest> =>
    bytes <= bytesMax ? ok(undefined) : err(invalidRequest(WHOLE_BODY, { name: "bytes_max", max: bytesMax }));
  const read = await exchange.readBody(admit, async (chunk) => void chunks.push(chunk));
  return read.map(() => Buffer.concat(chunks));
};

/** Far more than any request needs: three URLs of 2048 characters and a prompt of a hundred pages. */
const JSON_BODY_BYTES_MAX = 256 * 1024;

/** Parses the body as JSON and ignores its declared content type. */
export const readJson = async (exchange: Exchange): Promise<Result<unknown, InvalidMessage>> =>
  (await readBytes(exchange, JSON_BODY_BYTES_MAX)).andThen(parse);

const parse = (bytes: Buffer): Result<unknown, InvalidMessage> => {
  if (bytes.length === 0) return err(invalidMessage(WHOLE_BODY, { name: "not_empty" }));
  try {
    return ok(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch (error) {
    return err(invalidMessage(WHOLE_BODY, { name: error instanceof SyntaxError ? "json" : "utf8" }));
  }
};
