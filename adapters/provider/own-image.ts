import { err, ok, type Result } from "neverthrow";
import type { ObjectStorage } from "../../application/ports/object-storage.js";

/**
 * Reads a reference image that our own service hosts: its URL may be one that a provider cannot reach (localhost, a
 * self-signed certificate, a private network), so providers get its bytes. `undefined`: it is somebody else's, and the
 * provider fetches it itself. The error is a reason for the log.
 */
export const ownImage = async (
  storage: ObjectStorage,
  url: string,
): Promise<Result<Uint8Array | undefined, string>> => {
  const name = storage.nameOf(url);
  if (name === undefined) return ok(undefined);
  const stored = await storage.read(name);
  if (stored.isOk()) return ok(stored.value);
  return err(
    stored.error.kind === "not_found" ? "a hosted reference image is not there" : `storage: ${stored.error.reason}`,
  );
};
