import type { CheckFailure } from "../adapters/provider/remote/remote-options.js";

/** What a failed check of a provider's settings means, in one sentence for the operator. */
export const providerProblem = ({ kind, reason }: CheckFailure): string =>
  kind === "misconfigured"
    ? `Bad configuration: ${reason}.`
    : `The API key and the model or style could not be checked: ${reason}.`;
