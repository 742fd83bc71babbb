import { err, type Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
import type { ClientError } from "../client-error.js";
import type { AttemptError } from "./send-request.js";

/** If every attempt fails immediately, the pauses between them add up to at most 16 s. */
export const RETRIES_MAX = 5;
/** Retries while no connection is possible: 1.75 s of pauses in total, enough for a restart. */
const UNREACHABLE_RETRIES_MAX = 3;

type Limits = {
  readonly attemptTimeoutMilliseconds: number;
  /** For all attempts and the pauses between them. */
  readonly timeoutMilliseconds: number;
  readonly retriesMax: number;
  readonly signal: AbortSignal | undefined;
  /** Retries the normal number of times even if the service is unreachable. */
  readonly taskExists?: boolean;
  /** Called before each pause. */
  readonly onRetry?: (error: ClientError, pauseMilliseconds: number) => void;
};

/**
 * Repeats `attempt` with back-off until it succeeds, its error is permanent, or attempts or time are used up. Gives up
 * after 3 retries if no attempt could connect: the service is down, or its URL is wrong.
 */
export const callWithRetries = async <T>(
  attempt: (timeoutMilliseconds: number) => Promise<Result<T, AttemptError>>,
  { attemptTimeoutMilliseconds, timeoutMilliseconds, retriesMax, signal, taskExists = false, onRetry }: Limits,
  clock: Clock,
  random: () => number,
): Promise<Result<T, ClientError>> => {
  const milliseconds = () => clock.now().getTime();
  const deadline = milliseconds() + timeoutMilliseconds;
  let mayHaveBeenAccepted = false;
  let isUnreachable = !taskExists;
  for (let attempts = 1; ; attempts++) {
    const start = milliseconds();
    const answered = await attempt(Math.min(attemptTimeoutMilliseconds, deadline - milliseconds()));
    if (answered.isOk()) return answered;

    // A rejected retry does not prove that an earlier attempt was not accepted.
    const { noConnection = false, isFinal = false, ...failure } = answered.error;
    mayHaveBeenAccepted ||= failure.mayHaveBeenAccepted;
    isUnreachable &&= noConnection;
    const error = { ...failure, mayHaveBeenAccepted };
    const retries = isFinal ? 0 : isUnreachable ? UNREACHABLE_RETRIES_MAX : retriesMax;
    const attemptsMax = 1 + Math.min(retriesMax, retries);
    const pause = isUnreachable
      ? unreachableDelayMilliseconds(attempts, random())
      : retryDelayMilliseconds(error, attempts, random());
    // An attempt that is cut while it connects would not prove that nothing was sent.
    const attemptMilliseconds = isUnreachable ? 1.2 * (milliseconds() - start) : 0;
    if (pause === undefined || attempts >= attemptsMax || milliseconds() + pause + attemptMilliseconds >= deadline)
      return err(error);
    onRetry?.(error, pause);
    await clock.sleep(pause, signal);
    if (signal?.aborted) return err({ ...error, code: "aborted", message: "The call was aborted." });
  }
};

const FIRST_DELAY_MILLISECONDS = 500;
const DELAY_MILLISECONDS_MAX = 8_000;
const UNREACHABLE_DELAY_MILLISECONDS = 250;

/**
 * The pause before a retry; `undefined` for an error that a retry cannot fix. Honours `retry-after`. Otherwise uses
 * exponential back-off with full jitter, so that clients which failed together do not retry together.
 *
 * @param attempt the number of attempts so far, at least 1
 * @param random at least 0 and less than 1
 */
export const retryDelayMilliseconds = (error: ClientError, attempt: number, random: number): number | undefined => {
  if (!isTransient(error)) return undefined;
  if (error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1000;
  return random * Math.min(DELAY_MILLISECONDS_MAX, FIRST_DELAY_MILLISECONDS * 2 ** (attempt - 1));
};

/**
 * The pause before a retry while no connection is possible: 250, 500 and 1000 ms, of which jitter leaves at least a
 * half. A fast reconnection matters more than the number of clients that try a closed port.
 */
const unreachableDelayMilliseconds = (attempt: number, random: number): number =>
  UNREACHABLE_DELAY_MILLISECONDS * 2 ** (attempt - 1) * (0.5 + random / 2);

const isTransient = ({ code, status, retryAfterSeconds }: ClientError): boolean => {
  switch (code) {
    case "timeout":
    case "network_error":
    case "internal_error":
      return true;
    case "rate_limited":
      return retryAfterSeconds !== undefined;
    case "unexpected_answer":
      return status !== undefined && (status >= 500 || status === 429);
    default:
      // `upstream_error`: the provider refused and the credits are refunded. The caller decides whether to try again.
      return false;
  }
};
