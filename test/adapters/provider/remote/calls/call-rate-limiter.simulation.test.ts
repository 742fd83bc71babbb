import fc from "fast-check";
import { expect, it } from "vitest";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { type CallKind, CallRateLimiter } from "../../../../../adapters/provider/remote/calls/call-rate-limiter.js";

/** The largest number of calls within 999 milliseconds: timers are exact to one. */
const mostInASecond = (arrivals: readonly number[]): number =>
  Math.max(0, ...arrivals.map((at, n) => arrivals.slice(n, n + 200).filter((other) => other < at + 999).length));

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
