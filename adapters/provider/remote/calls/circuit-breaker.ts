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
import type { Readiness } from "../../../../application/ports/generation-provider.js";
import type { Answer, Call, CallFailure } from "./upstream-http.js";

export type CircuitState = "closed" | "half-open" | "open";

const FAILURES_IN_A_ROW = 5;
const SHORTEST_BREAK_MILLISECONDS = 10_000;
const LONGEST_BREAK_MILLISECONDS = 60_000;
/** Until when it is worth the while to look what became of a probe. */
const PROBE_MILLISECONDS = 5_000;

/**
 * Whether calls are sent to a provider at all. After five failures in a row none is sent for 10 seconds; then one call
 * is the probe, and while it is under way no other is sent. Its answer lets all go on; its failure starts another
 * break, twice as long, up to a minute. (The library takes no clock; its time is the machine's.)
 *
 * A failure is a call without an answer, and a 5xx to a creation. A 5xx to a read may be about one poisoned task, which
 * must not stop everybody's creations: it says nothing, unless it is the probe, for it is no recovery either. Everything
 * else is an answer.
 */
export class CircuitBreaker {
  private readonly policy: CircuitBreakerPolicy;
  private breakBeganAt = 0;
  private breakEndsAt = 0;

  /** `onChange` hears of each change once. */
  constructor(onChange: (state: CircuitState) => void) {
    // The library compares the duration with the time since the break began; asked anew, it is over when we say so.
    const breakMilliseconds = () => (this.breakMilliseconds > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
    const halfOpenAfter: IBackoff<IHalfOpenAfterBackoffContext> = {
      get duration() {
        return breakMilliseconds();
      },
      next: ({ attempt }) => {
        const milliseconds = Math.min(SHORTEST_BREAK_MILLISECONDS * 2 ** (attempt - 1), LONGEST_BREAK_MILLISECONDS);
        this.breakBeganAt = Date.now();
        this.breakEndsAt = this.breakBeganAt + milliseconds;
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
    return this.silentMilliseconds > 0 ? "down" : "probing";
  }

  /** How long, as far as is known, a call would not be sent. */
  get silentMilliseconds(): number {
    if (this.policy.state === CockatielState.HalfOpen) return PROBE_MILLISECONDS;
    return this.policy.state === CockatielState.Open ? this.breakMilliseconds : 0;
  }

  /** What is left of the break: nothing when the clock has been set back, for it would last until it is that time again. */
  private get breakMilliseconds(): number {
    const now = Date.now();
    return now < this.breakBeganAt ? 0 : Math.max(0, this.breakEndsAt - now);
  }

  /** `undefined`: the call was not sent. */
  async run(
    method: Call["method"],
    send: () => Promise<Result<Answer, CallFailure>>,
  ): Promise<Result<Answer, CallFailure> | undefined> {
    // The library would let the others wait for the end of the probe; a caller is better told at once.
    if (this.policy.state === CockatielState.HalfOpen) return undefined;
    const probing = this.policy.state === CockatielState.Open;
    let called: Result<Answer, CallFailure> | undefined;
    try {
      await this.policy.execute(async () => {
        called = await send();
        const verdict = verdictOn(method, called);
        if (verdict === "nothing" && !probing) throw new SaysNothing();
        return verdict === "answer" ? "answer" : "failure";
      });
    } catch (error) {
      if (!(error instanceof SaysNothing || error instanceof BrokenCircuitError)) throw error;
    }
    return called;
  }
}

/** An error that the library was not told of is neither success nor failure while the circuit is closed. */
class SaysNothing extends Error {}

const verdictOn = (method: Call["method"], called: Result<Answer, CallFailure>): "answer" | "failure" | "nothing" => {
  if (called.isErr()) return "failure";
  if (called.value.status < 500) return "answer";
  return method === "POST" ? "failure" : "nothing";
};
