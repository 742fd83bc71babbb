import type { CheckFailure, OpenProvider } from "../../adapters/provider/remote/remote-options.js";
import { ConfigurationError } from "../command-error.js";

/** One sentence for the operator about a failed check of a provider's settings. */
export const providerProblem = ({ kind, reason }: CheckFailure): string =>
  kind === "misconfigured"
    ? `Bad configuration: ${reason}.`
    : `The API key and the model or style could not be checked: ${reason}.`;

/**
 * Throws `ConfigurationError` if a setting is wrong, before anything is generated. What could not be checked, as in an
 * outage, is only told to `warn`.
 */
export const checkSettings = async (provider: OpenProvider, warn: (message: string) => void): Promise<void> => {
  const checked = await provider.check();
  if (checked.isOk()) return;
  const message = providerProblem(checked.error);
  if (checked.error.kind === "misconfigured") throw new ConfigurationError(message);
  warn(message);
};
