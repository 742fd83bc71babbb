import { err, ok, type Result } from "neverthrow";
import type { ObjectStorage } from "../../../../application/ports/object-storage.js";

/**
 * What to send to a provider for a reference image. Reads and encodes an image that our own service hosts, because the
 * provider may not reach its URL (localhost, self-signed certificate, private network). Any other URL is sent
 * unchanged. The error is a reason for the log.
 */
export const referenceInput = async <T>(
  storage: ObjectStorage,
  url: string,
  encode: (bytes: Uint8Array) => Result<T, string> | Promise<Result<T, string>>,
): Promise<Result<T | string, string>> => {
  const name = storage.nameOf(url);
  if (name === undefined) return ok(url);
  const stored = await storage.read(name);
  if (stored.isOk()) return encode(stored.value);
  return err(
    stored.error.kind === "not_found" ? "a hosted reference image is not found" : `storage: ${stored.error.reason}`,
  );
};
