import type { Config } from "./config.js";

/** Between the end of the upstream call's time and the sweep: the answer has to be recorded, too. */
const RECORDING_MILLISECONDS = 5_000;

/** From the reservation of a task on. Each provider may use its whole time before it refuses and the next one is asked. */
export const submissionDeadlineMilliseconds = ({
  provider,
  submitTimeoutMilliseconds,
}: Pick<Config, "provider" | "submitTimeoutMilliseconds">): number => {
  const providers = provider.kind === "local" ? 1 : provider.inOrder.length;
  return providers * submitTimeoutMilliseconds + RECORDING_MILLISECONDS;
};
