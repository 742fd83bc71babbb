import { err, ok, type Result } from "neverthrow";
import { type InvalidRequest, invalidRequest, WHOLE_BODY } from "../../../domain/invalid-request.js";
import type { InvalidMessage } from "../../wording/rule-predicate.js";
import type { Exchange } from "./exchange.js";

/** Reads the whole body into memory. Refuses a body of more than `bytesMax` bytes without reading it to its end. */
export const readBytes = async (exchange: Exchange, bytesMax: number): Promise<Result<Buffer, InvalidMessage>> => {
  const chunks: Buffer[] = [];
  const admit = (bytes: number): Result<void, InvalidRequest> =>
    bytes <= bytesMax ? ok(undefined) : err(invalidRequest(WHOLE_BODY, { name: "bytes_max", max: bytesMax }));
  const read = await exchange.readBody(admit, async (chunk) => void chunks.push(chunk));
  return read.map(() => Buffer.concat(chunks));
};
