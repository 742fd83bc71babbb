import { err, ok, type Result } from "neverthrow";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import type { Exchange } from "./exchange.js";

/** Reads the whole body into memory. Refuses a body of more than `bytesMax` bytes without reading it to its end. */
export const readBytes = async (exchange: Exchange, bytesMax: number): Promise<Result<Buffer, InvalidRequest>> => {
  const chunks: Buffer[] = [];
  const admit = (bytes: number): Result<void, InvalidRequest> =>
    bytes <= bytesMax ? ok(undefined) : err(invalidRequest(`request body: must have at most ${bytesMax} bytes.`));
  const read = await exchange.readBody(admit, async (chunk) => void chunks.push(chunk));
  return read.map(() => Buffer.concat(chunks));
};
