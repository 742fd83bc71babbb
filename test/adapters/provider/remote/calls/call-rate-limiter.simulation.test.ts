import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { type CallKind, CallRateLimiter } from "../../../../../adapters/provider/remote/calls/call-rate-limiter.js";

/** A provider that takes `perSecond` calls a second and refuses those above with the seconds to wait. */
class BusyProvider {
  readonly arrivals: number[] = [];
  refused = 0;
  private tokens: number;
  private filledAt: number;
  private readonly clock: HandClock;
  private readonly perSecond: number;
  private readonly burst: number;

  constructor(clock: HandClock, perSecond: number, burst: number) {
    this.clock = clock;
    this.perSecond = perSecond;
    this.burst = burst;
    this.tokens = burst;
    this.filledAt = clock.now().getTime();
  }

  /** Milliseconds to wait; `undefined` if the call is accepted. */
  take(refusesAnyway: boolean): number | undefined {
    const now = this.clock.now().getTime();
    this.arrivals.push(now);
    this.tokens = Math.min(this.burst, this.tokens + ((now - this.filledAt) / 1_000) * this.perSecond);
    this.filledAt = now;
    const accepted = this.tokens >= 1 && !refusesAnyway;
    if (this.tokens >= 1) this.tokens -= 1;
    if (accepted) return undefined;
    this.refused += 1;
    return Math.max(1, Math.ceil((1 - this.tokens) / this.perSecond)) * 1_000;
  }
}

type Load = {
  readonly creations: number;
  /** Reads of each accepted creation. */
  readonly reads: number;
  readonly latencyMilliseconds: number;
  readonly refusesCreation: (n: number) => boolean;
};

/** Up to forty tasks at a time, each a creation and its reads. Resolves when every call was accepted. */
const send = async (clock: HandClock, limiter: CallRateLimiter, provider: BusyProvider, load: Load) => {
  const { reads, latencyMilliseconds, refusesCreation } = load;
  let creationsLeft = load.creations;
  let creationsSent = 0;
  const call = async (kind: CallKind): Promise<boolean> => {
    const turn = await limiter.turn(kind, 10_000);
    if (turn.isErr()) return false;
    if (kind === "creation") creationsSent += 1;
    const pause = provider.take(kind === "creation" && refusesCreation(creationsSent));
    await clock.sleep(latencyMilliseconds);
    limiter.answered(kind, pause);
    return pause === undefined;
  };
  const untilAccepted = async (kind: CallKind) => {
    while (!(await call(kind))) await clock.sleep(Math.max(200, limiter.pausedMilliseconds));
  };
  const runTasks = async () => {
    while (creationsLeft > 0) {
      creationsLeft -= 1;
      await untilAccepted("creation");
      for (let n = 0; n < reads; n += 1) await untilAccepted("read");
    }
  };
  await Promise.all(Array.from({ length: 40 }, runTasks));
};

/** Seconds on the clock until `work` has ended. */
const secondsUntil = async (clock: HandClock, work: Promise<void>): Promise<number> => {
  const start = clock.now().getTime();
  let ended = false;
  void work.then(() => {
    ended = true;
  });
  while (!ended) await clock.advance(1_000);
  return (clock.now().getTime() - start) / 1_000;
};

/** The largest number of calls within 999 milliseconds: timers are exact to one. */
const mostInASecond = (arrivals: readonly number[]): number =>
  Math.max(0, ...arrivals.map((at, n) => arrivals.slice(n, n + 200).filter((other) => other < at + 999).length));

describe("CallRateLimiter with a simulated provider", () => {
  let clock: HandClock;

  beforeEach(() => {
    clock = new HandClock();
  });

  const thirds = (n: number) => n % 3 === 0;

  it.each([20, 400, 1_000])(
    "sends 200 creations, of which every third is refused, in 90 seconds at a latency of %i milliseconds",
    async (latencyMilliseconds) => {
      const limiter = new CallRateLimiter(clock, 10);
      const provider = new BusyProvider(clock, 10, 10);
      const load = { creations: 200, reads: 2, latencyMilliseconds, refusesCreation: thirds };
      expect(await secondsUntil(clock, send(clock, limiter, provider, load))).toBeLessThan(90);
      expect(mostInASecond(provider.arrivals)).toBeLessThanOrEqual(10);
    },
  );

  it("does not hammer a provider whose limit is far below ours, and uses most of that limit", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 10, max: 40 }),
        fc.double({ min: 0.1, max: 0.9, noNaN: true }),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 10, max: 900 }),
        async (perSecond, share, burst, latencyMilliseconds) => {
          const clock = new HandClock();
          const limiter = new CallRateLimiter(clock, perSecond);
          const provider = new BusyProvider(clock, perSecond * share, burst);
          const load = { creations: 200, reads: 3, latencyMilliseconds, refusesCreation: () => false };
          const seconds = await secondsUntil(clock, send(clock, limiter, provider, load));
          expect(provider.refused / provider.arrivals.length).toBeLessThan(0.2);
          expect(800 / seconds).toBeGreaterThan(perSecond * share * 0.6);
          expect(mostInASecond(provider.arrivals)).toBeLessThanOrEqual(perSecond);
        },
      ),
      { numRuns: 10 },
    );
  });
});

type Event =
  | { readonly kind: CallKind; readonly waitMillisecondsMax: number }
  | { readonly kind: "pass" | "pause"; readonly milliseconds: number }
  | { readonly kind: "answered creation"; readonly pauseMilliseconds: number | undefined };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom<CallKind>("creation", "read"),
      waitMillisecondsMax: fc.integer({ min: 0, max: 30_000 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass" as const), milliseconds: fc.nat(3_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pause" as const), milliseconds: fc.nat(10_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("answered creation" as const),
      pauseMilliseconds: fc.option(fc.nat(10_000), { nil: undefined, freq: 4 }),
    }),
  },
);

it("CallRateLimiter respects the rate, every pause and every waiting time, and settles every turn", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 50 }), fc.array(event, { maxLength: 80 }), async (perSecond, events) => {
      const clock = new HandClock();
      const limiter = new CallRateLimiter(clock, perSecond);
      const now = () => clock.now().getTime();
      const starts: { readonly at: number; readonly latest: number; readonly pausedUntil: number }[] = [];
      let pausedUntil = 0;
      let refusedInARow = 0;
      let unsettled = 0;
      for (const event of events) {
        switch (event.kind) {
          case "pass":
            await clock.advance(event.milliseconds);
            break;
          case "pause":
            limiter.answered("read", event.milliseconds);
            pausedUntil = Math.max(pausedUntil, now() + event.milliseconds);
            break;
          case "answered creation": {
            const { pauseMilliseconds } = event;
            limiter.answered("creation", pauseMilliseconds);
            refusedInARow = pauseMilliseconds === undefined ? 0 : refusedInARow + 1;
            if (refusedInARow >= 3) pausedUntil = Math.max(pausedUntil, now() + (pauseMilliseconds ?? 0));
            break;
          }
          default: {
            const latest = now() + event.waitMillisecondsMax;
            unsettled += 1;
            void limiter.turn(event.kind, event.waitMillisecondsMax).then((turn) => {
              unsettled -= 1;
              if (turn.isOk()) starts.push({ at: now(), latest, pausedUntil });
            });
            // Lets a turn that resolves at once be recorded first.
            await clock.advance(0);
          }
        }
      }
      await clock.advance(600_000);
      expect(unsettled).toBe(0);
      for (const { at, latest, pausedUntil } of starts) {
        expect(at).toBeLessThanOrEqual(latest);
        expect(at).toBeGreaterThanOrEqual(pausedUntil);
      }
      expect(mostInASecond(starts.map(({ at }) => at))).toBeLessThanOrEqual(perSecond);
    }),
  );
});
