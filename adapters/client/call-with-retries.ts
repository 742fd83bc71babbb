import { err, type Result } from "neverthrow";
import type { Clock } from "../../application/ports/clock.js";
import type { ClientError } from "./client-error.js";
import { retryDelayMilliseconds } from "./retry-delay.js";

/** If every attempt fails immediately, the pauses between them add up to at most 16 s. */
const ATTEMPTS_MAX = 6;

type Limits = {
  readonly attemptTimeoutSeconds: number;
  /** For all attempts and the pauses between them. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal | undefined;
};

/** Repeats `attempt` with back-off until it succeeds, its error is permanent, or attempts or time are used up. */
export const callWithRetries = async <T>(
  attempt: (timeoutMilliseconds: number) => Promise<Result<T, ClientError>>,
  { attemptTimeoutSeconds, timeoutSeconds, signal }: Limits,
  clock: Clock,
  random: () => number,
): Promise<Result<T, ClientError>> => {
  const milliseconds = () => clock.now().getTime();
  const deadline = milliseconds() + timeoutSeconds * 1000;
  let mayHaveBeenAccepted = false;
  for (let attempts = 1; ; attempts++) {
    const answered = await attempt(Math.min(attemptTimeoutSeconds * 1000, deadline - milliseconds()));
    if (answered.isOk()) return answered;

    // A rejected retry does not prove that an earlier attempt was not accepted.
    mayHaveBeenAccepted ||= answered.error.mayHaveBeenAccepted;
    const error = { ...answered.error, mayHaveBeenAccepted };
    const pause = retryDelayMilliseconds(error, attempts, random());
    if (pause === undefined || attempts === ATTEMPTS_MAX || milliseconds() + pause >= deadline) return err(error);
    await clock.sleep(pause, signal);
    if (signal?.aborted) return err({ ...error, code: "aborted", message: "The call was aborted." });
  }
};
