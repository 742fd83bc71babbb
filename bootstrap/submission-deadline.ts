import type { Config } from "./config.js";

/** Time to record the answer, between the timeout of the provider call and the deadline. */
const RECORDING_MILLISECONDS = 5_000;

/**
 * A task without a recorded submission is swept after this time from its reservation. Each configured provider may use
 * its full timeout before the next one is tried.
 */
export const submissionDeadlineMilliseconds = ({
  provider,
  submitTimeoutMilliseconds,
}: Pick<Config, "provider" | "submitTimeoutMilliseconds">): number => {
  const providers = provider.kind === "local" ? 1 : provider.inOrder.length;
  return providers * submitTimeoutMilliseconds + RECORDING_MILLISECONDS;
};
