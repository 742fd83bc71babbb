import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { CircuitBreaker } from "../../../../../adapters/provider/remote/calls/circuit-breaker.js";
import type { CircuitState } from "../../../../../application/ports/generation-provider.js";

type Outcome = "no answer" | number;

let clock: HandClock;
let circuit: CircuitBreaker;
let changes: CircuitState[];

beforeEach(() => {
  clock = new HandClock();
  changes = [];
  circuit = new CircuitBreaker(clock, (state) => changes.push(state));
});

const resultOf = (outcome: Outcome) =>
  outcome === "no answer"
    ? err({ kind: "no_answer" as const, reason: "ECONNRESET" })
    : ok({ status: outcome, retryAfter: undefined, body: {} });

/** Whether the call was sent. */
const called = async (method: "GET" | "POST", outcome: Outcome): Promise<boolean> =>
  (await circuit.run(method, async () => resultOf(outcome))) !== undefined;

const calls = async (method: "GET" | "POST", outcomes: readonly Outcome[]): Promise<void> => {
  for (const outcome of outcomes) await called(method, outcome);
};

const opened = () =>
  calls(
    "POST",
    Array.from({ length: 5 }, () => "no answer"),
  );

describe("CircuitBreaker", () => {
  it("counts failures from 0 again after every answer, also a 4xx", async () => {
    for (const status of [200, 401, 404, 429]) {
      await calls("POST", ["no answer", 500, 503, 504]);
      await called("GET", status);
    }
    expect(circuit.readiness()).toBe("ready");
  });

  it("neither counts a 5xx to a read as a failure nor resets the count", async () => {
    await calls("GET", [500, 500, 500, 500, 500, 500, 500, 500]);
    expect(circuit.readiness()).toBe("ready");
    await calls("POST", [500, 500, 500, 500]);
    await calls("GET", [500, 500]);
    await called("POST", 500);
    expect(circuit.readiness()).toBe("down");
  });

  describe("when open", () => {
    beforeEach(opened);

    it("sends one call after 10 seconds, and closes when it is answered", async () => {
      await clock.advance(9_999);
      expect([circuit.readiness(), circuit.blockedMilliseconds]).toEqual(["down", 1]);
      await clock.advance(1);
      expect([circuit.readiness(), circuit.blockedMilliseconds]).toEqual(["probing", 0]);
      expect(await called("GET", 200)).toBe(true);
      expect(circuit.readiness()).toBe("ready");
      await calls("GET", ["no answer", "no answer", "no answer", "no answer"]);
      expect(circuit.readiness()).toBe("ready");
      expect(changes).toEqual(["open", "half-open", "closed"]);
    });

    it("probes at once when the clock has been set back", async () => {
      clock.setBack(3_600_000);
      expect([circuit.readiness(), circuit.blockedMilliseconds]).toEqual(["probing", 0]);
      expect(await called("GET", 200)).toBe(true);
      expect(circuit.readiness()).toBe("ready");
    });

    it("sends nothing else while the probe is in flight", async () => {
      await clock.advance(10_000);
      let answer = () => {};
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const probe = circuit.run("GET", async () => {
        await answered;
        return resultOf(200);
      });
      expect([circuit.readiness(), circuit.blockedMilliseconds]).toEqual(["down", 5_000]);
      expect([await called("GET", 200), await called("POST", 200)]).toEqual([false, false]);
      answer();
      expect(await probe).toEqual(resultOf(200));
      expect(await called("POST", 200)).toBe(true);
    });

    it.each<["GET" | "POST", Outcome]>([
      ["GET", "no answer"],
      ["GET", 503],
      ["POST", 500],
    ])("doubles the break up to a minute while the probe is a %s that ends with %s", async (method, outcome) => {
      const breaks: number[] = [];
      for (let probe = 0; probe < 5; probe += 1) {
        breaks.push(circuit.blockedMilliseconds);
        await clock.advance(circuit.blockedMilliseconds);
        expect(await called(method, outcome)).toBe(true);
      }
      expect(breaks).toEqual([10_000, 20_000, 40_000, 60_000, 60_000]);
      expect(circuit.readiness()).toBe("down");
    });

    it("starts the next outage with a break of 10 seconds again", async () => {
      await clock.advance(10_000);
      await called("GET", "no answer");
      await clock.advance(20_000);
      await called("GET", 429);
      await opened();
      expect(circuit.blockedMilliseconds).toBe(10_000);
    });
  });

  it("reports opening once when eight calls fail at the same time", async () => {
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const late = Array.from({ length: 8 }, () =>
      circuit.run("POST", async () => {
        await over;
        return resultOf("no answer");
      }),
    );
    end();
    await Promise.all(late);
    expect(changes).toEqual(["open"]);
  });
});
