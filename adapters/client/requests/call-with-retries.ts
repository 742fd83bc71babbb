import { err, type Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
import type { ClientError } from "../client-error.js";
import { absenceDelayMilliseconds, retryDelayMilliseconds } from "./retry-delay.js";
import type { AttemptError } from "./send-request.js";

/** If every attempt fails immediately, the pauses between them add up to at most 16 s. */
export const RETRIES_MAX = 5;
/** The pauses while nothing listens add up to at most 1.75 s. By then a restarted service listens again. */
const ABSENCE_RETRIES_MAX = 3;

type Limits = {
  readonly attemptTimeoutMilliseconds: number;
  /** For all attempts and the pauses between them. */
  readonly timeoutMilliseconds: number;
  readonly retriesMax: number;
  readonly signal: AbortSignal | undefined;
  /** The service has the caller's task, so it is worth waiting for even if nothing listens at the moment. */
  readonly isKnown?: boolean;
  /** Called before each pause. */
  readonly onRetry?: (error: ClientError, pauseMilliseconds: number) => void;
};

/**
 * Repeats `attempt` with back-off until it succeeds, its error is permanent, or attempts or time are used up. Gives up
 * early if nothing has listened at any attempt: the service is down, or its URL is wrong.
 */
export const callWithRetries = async <T>(
  attempt: (timeoutMilliseconds: number) => Promise<Result<T, AttemptError>>,
  { attemptTimeoutMilliseconds, timeoutMilliseconds, retriesMax, signal, isKnown = false, onRetry }: Limits,
  clock: Clock,
  random: () => number,
): Promise<Result<T, ClientError>> => {
  const milliseconds = () => clock.now().getTime();
  const deadline = milliseconds() + timeoutMilliseconds;
  let mayHaveBeenAccepted = false;
  let isAbsent = !isKnown;
  for (let attempts = 1; ; attempts++) {
    const answered = await attempt(Math.min(attemptTimeoutMilliseconds, deadline - milliseconds()));
    if (answered.isOk()) return answered;

    // A rejected retry does not prove that an earlier attempt was not accepted.
    const { nothingListens = false, ...failure } = answered.error;
    mayHaveBeenAccepted ||= failure.mayHaveBeenAccepted;
    isAbsent &&= nothingListens;
    const error = { ...failure, mayHaveBeenAccepted };
    const attemptsMax = 1 + (isAbsent ? Math.min(retriesMax, ABSENCE_RETRIES_MAX) : retriesMax);
    const pause = isAbsent
      ? absenceDelayMilliseconds(attempts, random())
      : retryDelayMilliseconds(error, attempts, random());
    if (pause === undefined || attempts >= attemptsMax || milliseconds() + pause >= deadline) return err(error);
    onRetry?.(error, pause);
    await clock.sleep(pause, signal);
    if (signal?.aborted) return err({ ...error, code: "aborted", message: "The call was aborted." });
  }
};
