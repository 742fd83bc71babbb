import type { Progress } from "../../../../application/ports/generation-provider.js";

/** A finished generation; failed if the result is not an http or https URL, which could not be downloaded or shown. */
export const succeededWith = (url: string): Progress => {
  const usable = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return usable
    ? { state: "succeeded", temporaryUrl: url }
    : { state: "failed", reason: "the provider's result is not a URL that can be downloaded" };
};
