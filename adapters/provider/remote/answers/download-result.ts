import { err, ok, type Result } from "neverthrow";
import type {
  GeneratedImage,
  Progress,
  ProviderUnavailable,
  ResultGone,
} from "../../../../application/ports/generation-provider.js";
import type { FetchFailure, PublicFetch } from "../../public-fetch.js";
import { unavailable } from "../calls/provider-api.js";

const LIMITS = { bytesMax: 64 * 1024 * 1024, timeoutMilliseconds: 60_000 };

/** Fetches a result; if its URL is gone, `pollAgain` is asked once for a fresh one. */
export const downloadResult = async (
  publicFetch: PublicFetch,
  temporaryUrl: string,
  pollAgain: () => Promise<Result<Progress, ProviderUnavailable>>,
): Promise<Result<GeneratedImage, ResultGone | ProviderUnavailable>> => {
  const first = await publicFetch.get(temporaryUrl, LIMITS);
  if (first.isOk()) return ok({ bytes: first.value.bytes, thumbnail: "possible" });
  if (first.error.kind !== "gone") return err(notNow(first.error));

  const progress = await pollAgain();
  if (progress.isErr()) return err(progress.error);
  if (progress.value.state !== "succeeded") return err(gone(first.error.reason));
  const second = await publicFetch.get(progress.value.temporaryUrl, LIMITS);
  if (second.isOk()) return ok({ bytes: second.value.bytes, thumbnail: "possible" });
  return err(second.error.kind === "gone" ? gone(second.error.reason) : notNow(second.error));
};

const gone = (reason: string): ResultGone => ({ kind: "result_gone", reason: `the result's URL: ${reason}` });

/** Also what will be no better next time (a private address, too many bytes): then the attempts run out. */
const notNow = ({ reason }: FetchFailure): ProviderUnavailable => unavailable(`the result's URL: ${reason}`);
