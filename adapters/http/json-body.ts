import { err, ok, type Result } from "neverthrow";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import type { Exchange } from "./exchange.js";

/** Far more than any request needs: three URLs of 2048 characters and a prompt of a hundred pages. */
const JSON_BODY_BYTES_MAX = 256 * 1024;

/** Parses the body as JSON and ignores its declared content type. */
export const readJson = async (exchange: Exchange): Promise<Result<unknown, InvalidRequest>> => {
  const chunks: Buffer[] = [];
  const read = await exchange.readBody(admitSize, async (chunk) => void chunks.push(chunk));
  return read.andThen(() => parse(Buffer.concat(chunks)));
};

const admitSize = (bytes: number): Result<void, InvalidRequest> =>
  bytes <= JSON_BODY_BYTES_MAX
    ? ok(undefined)
    : err(invalidRequest(`request body: must have at most ${JSON_BODY_BYTES_MAX} bytes.`));

const parse = (bytes: Buffer): Result<unknown, InvalidRequest> => {
  if (bytes.length === 0) return err(invalidRequest("request body: is empty, but must be a JSON object."));
  try {
    return ok(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch (error) {
    return err(
      invalidRequest(
        error instanceof SyntaxError
          ? "request body: must be JSON; it cannot be parsed."
          : "request body: must be JSON in UTF-8; it has bytes that are not.",
      ),
    );
  }
};
