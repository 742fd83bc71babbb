import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState as CockatielState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
  type IBackoff,
  type IHalfOpenAfterBackoffContext,
} from "cockatiel";
import type { Result } from "neverthrow";
import type { Clock } from "../../../../application/ports/clock.js";
import type { CircuitState, Readiness } from "../../../../application/ports/generation-provider.js";
import type { Answer, CallFailure, UpstreamCall } from "./upstream-call.js";

const FAILURES_IN_A_ROW = 5;
const BREAK_MILLISECONDS_MIN = 10_000;
const BREAK_MILLISECONDS_MAX = 60_000;
/** While a probe is in flight, polls are postponed by this time. */
const PROBE_MILLISECONDS = 5_000;

/**
 * Decides whether calls are sent to a provider. After five failures in a row it sends none for 10 seconds. Then it
 * sends one call as a probe, and no other while the probe is in flight. If the probe is answered, all calls are sent
 * again; if it fails, the next break is twice as long, up to a minute.
 *
 * A failure is a call without an answer, or a 5xx to a creation, except a 503 that says when to come back: a busy
 * provider responds. A 5xx to a read may be about one broken task, which
 * must not stop all creations: it is ignored, unless the read is the probe; then it is a failure. Everything else is an
 * answer.
 */
export class CircuitBreaker {
  private readonly clock: Clock;
  private readonly policy: CircuitBreakerPolicy;
  private breakBeganAt = 0;
  private breakEndsAt = 0;

  /** Calls `onChange` once for each change. */
  constructor(clock: Clock, onChange: (state: CircuitState) => void) {
    this.clock = clock;
    // The library compares `duration` with the machine's clock at each call. With only infinite durations our clock
    // decides: plus infinity keeps the circuit open, minus infinity lets a probe through.
    const duration = () => (this.breakMilliseconds > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
    const halfOpenAfter: IBackoff<IHalfOpenAfterBackoffContext> = {
      get duration() {
        return duration();
      },
      next: ({ attempt }) => {
        this.breakBeganAt = this.clock.now().getTime();
        this.breakEndsAt =
          this.breakBeganAt + Math.min(BREAK_MILLISECONDS_MIN * 2 ** (attempt - 1), BREAK_MILLISECONDS_MAX);
        return halfOpenAfter;
      },
    };
    this.policy = circuitBreaker(
      handleWhenResult((verdict) => verdict === "failure"),
      { halfOpenAfter, breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW) },
    );
    this.policy.onStateChange((state) => {
      if (state === CockatielState.Closed) onChange("closed");
      else onChange(state === CockatielState.HalfOpen ? "half-open" : "open");
    });
  }

  readiness(): Readiness {
    if (this.policy.state === CockatielState.Closed) return "ready";
    return this.blockedMilliseconds > 0 ? "down" : "probing";
  }

  /** Time until calls are sent again, as far as is known. 0 if calls are sent. */
  get blockedMilliseconds(): number {
    if (this.policy.state === CockatielState.HalfOpen) return PROBE_MILLISECONDS;
    return this.policy.state === CockatielState.Open ? this.breakMilliseconds : 0;
  }

  /** Until the end of the break. 0 if the clock was set back, because the break would last that much longer. */
  private get breakMilliseconds(): number {
    const now = this.clock.now().getTime();
    return now < this.breakBeganAt ? 0 : Math.max(0, this.breakEndsAt - now);
  }

  /** `undefined`: the call was not sent. */
  async run(
    method: UpstreamCall["method"],
    send: () => Promise<Result<Answer, CallFailure>>,
  ): Promise<Result<Answer, CallFailure> | undefined> {
    // The library would make other calls wait for the probe; here they return immediately.
    if (this.policy.state === CockatielState.HalfOpen) return undefined;
    const probing = this.policy.state === CockatielState.Open;
    let called: Result<Answer, CallFailure> | undefined;
    try {
      await this.policy.execute(async () => {
        called = await send();
        const verdict = verdictOn(method, called);
        if (verdict === "ignored" && !probing) throw new IgnoredVerdict();
        return verdict === "answer" ? "answer" : "failure";
      });
    } catch (error) {
      if (!(error instanceof IgnoredVerdict || error instanceof BrokenCircuitError)) throw error;
    }
    return called;
  }
}

/** While the circuit is closed, the library ignores errors that it is not configured to handle. */
class IgnoredVerdict extends Error {}

const verdictOn = (
  method: UpstreamCall["method"],
  called: Result<Answer, CallFailure>,
): "answer" | "failure" | "ignored" => {
  if (called.isErr()) return "failure";
  const { status, retryAfter } = called.value;
  if (status < 500 || (status === 503 && retryAfter !== undefined)) return "answer";
  return method === "POST" || method === "PUT" ? "failure" : "ignored";
};
