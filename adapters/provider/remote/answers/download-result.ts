import { err, ok, type Result } from "neverthrow";
import type {
  DownloadFailure,
  GeneratedImage,
  Progress,
  ProviderUnavailable,
  ResultGone,
} from "../../../../application/ports/generation-provider.js";
import type { FetchFailure, PublicFetch } from "../../public-fetch.js";
import { unavailable } from "../../sound-reference.js";

/** A customer whose result does not end is refunded within 30 seconds. */
const LIMITS = { bytesMax: 64 * 1024 * 1024, timeoutMilliseconds: 20_000 };

/** Downloads a result. If its URL is gone, polls once for a fresh URL and tries that. */
export const downloadResult = async (
  publicFetch: PublicFetch,
  temporaryUrl: string,
  pollAgain: () => Promise<Result<Progress, ProviderUnavailable>>,
  ownHeaders: Readonly<Record<string, string>> = {},
): Promise<Result<GeneratedImage, DownloadFailure>> => {
  const first = await publicFetch.get(temporaryUrl, LIMITS, ownHeaders);
  if (first.isOk()) return ok({ bytes: first.value.bytes, thumbnail: "possible" });
  if (first.error.kind !== "gone") return err(failureOf(first.error));

  const progress = await pollAgain();
  if (progress.isErr()) return err(progress.error);
  if (progress.value.state !== "succeeded") return err(gone(first.error.reason));
  const second = await publicFetch.get(progress.value.temporaryUrl, LIMITS, ownHeaders);
  if (second.isOk()) return ok({ bytes: second.value.bytes, thumbnail: "possible" });
  return err(failureOf(second.error));
};

const gone = (reason: string): ResultGone => ({ kind: "result_gone", reason: `the result's URL: ${reason}` });

const failureOf = ({ kind, reason }: FetchFailure): DownloadFailure => {
  switch (kind) {
    case "gone":
      return gone(reason);
    case "forbidden":
    case "too_large":
    case "too_slow":
    case "too_many_redirects":
      return { kind: "result_unusable", reason: `the result's URL: ${reason}` };
    case "unavailable":
      return unavailable(`the result's URL: ${reason}`);
  }
};
