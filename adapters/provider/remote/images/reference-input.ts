import { createHash } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import type { SubmissionFailure } from "../../../../application/ports/generation-provider.js";
import type { ObjectStorage } from "../../../../application/ports/object-storage.js";
import type { ImageType } from "../../../../domain/images/image-type.js";
import type { PublicFetch } from "../../public-fetch.js";
import { aboutImage, FORMER_ADDRESS, imageProblemIn, NOT_HOSTED } from "../../sound-reference.js";
import { smallerReference } from "./smaller-reference.js";

const LIMITS = { bytesMax: 20 * 1024 * 1024, timeoutMilliseconds: 10_000 };

/**
 * The bytes of a reference image, for a provider that takes no URLs: from our storage, or from its public https URL.
 */
export const referenceBytes = async (
  storage: HostedImages,
  publicFetch: Pick<PublicFetch, "get">,
  url: string,
): Promise<Result<Uint8Array, ReferenceFailure>> => {
  const hosted = await storedBytes(storage, url);
  if (hosted.isErr()) return err(hosted.error);
  if (hosted.value !== undefined) return ok(hosted.value);
  const fetched = await publicFetch.get(url, LIMITS);
  return fetched
    .map(({ bytes }) => bytes)
    .mapErr(({ kind, reason, problem }) =>
      (kind === "too_large" ? unusableReference : unreachableReference)(aboutImage(reason), problem),
    );
};

type ReferenceFile = { readonly name: string; readonly type: ImageType; readonly bytes: Uint8Array };

/**
 * A reference image as a file for an upload, above 10 MiB a smaller JPEG. The same image has the same name, so a server
 * stores it once.
 */
export const referenceFile = async (
  url: string,
  { storage, publicFetch }: ReferenceSources,
): Promise<Result<ReferenceFile, ReferenceFailure>> => {
  const read = await referenceBytes(storage, publicFetch, url);
  return read.isErr() ? err(read.error) : fileOf(read.value);
};

/** The bytes of a reference image as a file for an upload. */
export const fileOf = async (original: Uint8Array): Promise<Result<ReferenceFile, ReferenceFailure>> => {
  const sent = await smallerReference(original, { edgePixelsMax: Number.POSITIVE_INFINITY });
  if (sent.isErr()) return err(unusableReference(sent.error));
  const { type, bytes } = sent.value;
  const name = `${createHash("sha256").update(bytes).digest("hex")}.${type.slice("image/".length)}`;
  return ok({ name, type, bytes });
};

export const dataUri = (type: string, bytes: Uint8Array): string =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;

/** A reference image as a data URI, above 10 MiB a smaller JPEG; the error is a reason for the log. */
export const dataUriOf = async (bytes: Uint8Array): Promise<Result<string, string>> =>
  (await smallerReference(bytes, { edgePixelsMax: Number.POSITIVE_INFINITY })).map((sent) =>
    dataUri(sent.type, sent.bytes),
  );

/** Reason why a reference image cannot be sent: the failure of the creation, or a log text (`Creation.body`). */
export type ReferenceFailure = string | SubmissionFailure;

/** The failure of an unusable reference image, which the customer must change. Nothing is sent. */
export const unusableReference = (reason: string, imageProblem = imageProblemIn(reason)): SubmissionFailure => ({
  kind: "refused",
  reason,
  cause: "reference_unusable",
  ...(imageProblem !== undefined && { imageProblem }),
});

/** The failure of a reference image that cannot be read from its URL. Nothing is sent. */
const unreachableReference = (reason: string, imageProblem: string): SubmissionFailure => ({
  kind: "refused",
  reason,
  cause: "reference_unreachable",
  imageProblem,
});

/** Says which of the reference images a failure is about, if it is about one. */
export const ofImage =
  (imageIndex: number) =>
  (failure: ReferenceFailure): ReferenceFailure =>
    typeof failure !== "string" && failure.cause?.startsWith("reference_") ? { ...failure, imageIndex } : failure;

/** The part of the storage that reads reference images of this service. */
export type HostedImages = Pick<ObjectStorage, "nameOf" | "read">;

/** Sources of reference images. */
export type ReferenceSources = {
  readonly storage: HostedImages;
  readonly publicFetch: Pick<PublicFetch, "get">;
};

/** The bytes of a reference image that this service hosts; `undefined` for an https URL that is sent as it is. */
export const hostedBytes = async (
  storage: HostedImages,
  url: string,
): Promise<Result<Uint8Array | undefined, ReferenceFailure>> => {
  const stored = await storedBytes(storage, url);
  const isFormer = stored.isOk() && stored.value === undefined && url.startsWith("http:");
  return isFormer ? err(unreachableReference(FORMER_ADDRESS, NOT_HOSTED)) : stored;
};

const storedBytes = async (
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
 * The input for a provider for a reference image. Reads and encodes an image that this service hosts, because the
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
