import { err, ok, type Result } from "neverthrow";
import type {
  GeneratedImage,
  Progress,
  ProviderUnavailable,
  ResultGone,
} from "../../../../application/ports/generation-provider.js";
import type { FetchFailure, PublicFetch } from "../../public-fetch.js";
import { unavailable } from "../../unavailable.js";

const LIMITS = { bytesMax: 64 * 1024 * 1024, timeoutMilliseconds: 60_000 };

/** Downloads a result. If its URL is gone, polls once for a fresh URL and tries that. */
export const downloadResult = async (
  publicFetch: PublicFetch,
  temporaryUrl: string,
  pollAgain: () => Promise<Result<Progress, ProviderUnavailable>>,
): Promise<Result<GeneratedImage, ResultGone | ProviderUnavailable>> => {
  const first = await publicFetch.get(temporaryUrl, LIMITS);
  if (first.isOk()) return ok({ bytes: first.value.bytes, thumbnail: "possible" });
  if (first.error.kind !== "gone") return err(retryLater(first.error));

  const progress = await pollAgain();
  if (progress.isErr()) return err(progress.error);
  if (progress.value.state !== "succeeded") return err(gone(first.error.reason));
  const second = await publicFetch.get(progress.value.temporaryUrl, LIMITS);
  if (second.isOk()) return ok({ bytes: second.value.bytes, thumbnail: "possible" });
  return err(second.error.kind === "gone" ? gone(second.error.reason) : retryLater(second.error));
};

const gone = (reason: string): ResultGone => ({ kind: "result_gone", reason: `the result's URL: ${reason}` });

/** Also for failures that a retry cannot fix (a private address, too many bytes): the number of attempts is limited. */
const retryLater = ({ reason }: FetchFailure): ProviderUnavailable => unavailable(`the result's URL: ${reason}`);
