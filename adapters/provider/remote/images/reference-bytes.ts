import { err, ok, type Result } from "neverthrow";
import { aboutImage } from "../../image-problem.js";
import type { PublicFetch } from "../../public-fetch.js";
import { type ReferenceFailure, unreachableReference, unusableReference } from "./reference-failure.js";
import { type HostedImages, hostedBytes } from "./reference-input.js";

const LIMITS = { bytesMax: 20 * 1024 * 1024, timeoutMilliseconds: 10_000 };

/**
 * The bytes of a reference image, for a provider that takes no URLs: from our storage, or from its public https URL.
 */
export const referenceBytes = async (
  storage: HostedImages,
  publicFetch: Pick<PublicFetch, "get">,
  url: string,
): Promise<Result<Uint8Array, ReferenceFailure>> => {
  const hosted = await hostedBytes(storage, url);
  if (hosted.isErr()) return err(hosted.error);
  if (hosted.value !== undefined) return ok(hosted.value);
  const fetched = await publicFetch.get(url, LIMITS);
  return fetched
    .map(({ bytes }) => bytes)
    .mapErr(({ kind, reason, problem }) =>
      (kind === "too_large" ? unusableReference : unreachableReference)(aboutImage(reason), problem),
    );
};
