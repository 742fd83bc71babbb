import { err, ok, type Result } from "neverthrow";
import type { ObjectStorage } from "../../../../application/ports/object-storage.js";

/**
 * What a provider is sent for a reference image. One that our own service hosts is read and encoded, because its URL may
 * be one that a provider cannot reach (localhost, a self-signed certificate, a private network). Somebody else's URL is
 * passed on as it is. The error is a reason for the log.
 */
export const referenceInput = async (
  storage: ObjectStorage,
  url: string,
  encode: (bytes: Uint8Array) => Result<string, string> | Promise<Result<string, string>>,
): Promise<Result<string, string>> => {
  const name = storage.nameOf(url);
  if (name === undefined) return ok(url);
  const stored = await storage.read(name);
  if (stored.isOk()) return encode(stored.value);
  return err(
    stored.error.kind === "not_found" ? "a hosted reference image is not there" : `storage: ${stored.error.reason}`,
  );
};
