import { err, ok, type Result } from "neverthrow";
import type { ObjectStorage } from "../../../../application/ports/object-storage.js";

/** What is read of the storage where our own service hosts reference images. */
export type HostedImages = Pick<ObjectStorage, "nameOf" | "read">;

/** The bytes of a reference image that our own service hosts; `undefined` for any other URL. The error is for the log. */
export const hostedBytes = async (
  storage: HostedImages,
  url: string,
): Promise<Result<Uint8Array | undefined, string>> => {
  const name = storage.nameOf(url);
  if (name === undefined) return ok(undefined);
  const stored = await storage.read(name);
  return stored.mapErr((error) =>
    error.kind === "not_found" ? "a hosted reference image is not found" : `storage: ${error.reason}`,
  );
};

/**
 * What to send to a provider for a reference image. Reads and encodes an image that our own service hosts, because the
 * provider may not reach its URL (localhost, self-signed certificate, private network). Any other URL is sent
 * unchanged. The error is a reason for the log.
 */
export const referenceInput = async <T>(
  storage: HostedImages,
  url: string,
  encode: (bytes: Uint8Array) => Result<T, string> | Promise<Result<T, string>>,
): Promise<Result<T | string, string>> => {
  const hosted = await hostedBytes(storage, url);
  if (hosted.isErr()) return err(hosted.error);
  return hosted.value === undefined ? ok(url) : encode(hosted.value);
};
