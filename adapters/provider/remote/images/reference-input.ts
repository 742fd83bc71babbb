import { err, ok, type Result } from "neverthrow";
import type { ObjectStorage } from "../../../../application/ports/object-storage.js";
import { NOT_HOSTED } from "../../image-problem.js";
import type { PublicFetch } from "../../public-fetch.js";
import { type ReferenceFailure, unreachableReference, unusableReference } from "./reference-failure.js";

/** What is read of the storage where our own service hosts reference images. */
export type HostedImages = Pick<ObjectStorage, "nameOf" | "read">;

/** Where reference images are read. */
export type ReferenceSources = {
  readonly storage: HostedImages;
  readonly publicFetch: Pick<PublicFetch, "get">;
};

/** The bytes of a reference image that this service hosts; `undefined` for any other URL. */
export const hostedBytes = async (
  storage: HostedImages,
  url: string,
): Promise<Result<Uint8Array | undefined, ReferenceFailure>> => {
  const name = storage.nameOf(url);
  if (name === undefined) return ok(undefined);
  const stored = await storage.read(name);
  return stored.mapErr((error) =>
    error.kind === "not_found"
      ? unreachableReference("a hosted reference image is not found", NOT_HOSTED)
      : `storage: ${error.reason}`,
  );
};

/**
 * What to send to a provider for a reference image. Reads and encodes an image that our own service hosts, because the
 * provider may not reach its URL (localhost, self-signed certificate, private network). Any other URL is sent
 * unchanged. An image that cannot be encoded is not usable.
 */
export const referenceInput = async <T>(
  storage: HostedImages,
  url: string,
  encode: (bytes: Uint8Array) => Promise<Result<T, string>>,
): Promise<Result<T | string, ReferenceFailure>> => {
  const hosted = await hostedBytes(storage, url);
  if (hosted.isErr()) return err(hosted.error);
  return hosted.value === undefined ? ok(url) : (await encode(hosted.value)).mapErr(unusableReference);
};
