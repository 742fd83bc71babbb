import type { Progress } from "../../../../application/ports/generation-provider.js";
import { resultUrlOf } from "../../../../domain/images/picture.js";

/** A finished generation; failed if the result is not a URL that can be downloaded. */
export const succeededWith = (url: string): Progress => {
  const temporaryUrl = resultUrlOf(url);
  return temporaryUrl === undefined
    ? {
        state: "failed",
        reason: "the provider's result is not a URL that can be downloaded",
        cause: "unusable_result",
      }
    : { state: "succeeded", temporaryUrl };
};
