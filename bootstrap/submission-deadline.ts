import type { Config } from "./config.js";
import { serversOf } from "./providers/provider-config.js";

/** Time to record the answer, between the timeout of the provider call and the deadline. */
const RECORDING_MILLISECONDS = 5_000;

/**
 * A task without a recorded submission is swept after this time from its reservation. Each configured provider, and
 * each server of one, may use its full timeout before the next one is tried.
 */
export const submissionDeadlineMilliseconds = ({
  provider,
  submitTimeoutMilliseconds,
}: Pick<Config, "provider" | "submitTimeoutMilliseconds">): number => {
  const asked = provider.kind === "local" ? [] : provider.inOrder.flatMap((one) => serversOf(one));
  return Math.max(1, asked.length) * submitTimeoutMilliseconds + RECORDING_MILLISECONDS;
};
