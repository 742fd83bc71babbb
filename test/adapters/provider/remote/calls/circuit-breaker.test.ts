import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { CircuitBreaker } from "../../../../../adapters/provider/remote/calls/circuit-breaker.js";
import type { CircuitState } from "../../../../../application/ports/circuit-state.js";
import { HandClock } from "../../../../support/hand-clock.js";

type Ending = "no answer" | number;

let clock: HandClock;
let circuit: CircuitBreaker;
let changes: CircuitState[];

beforeEach(() => {
  clock = new HandClock();
  changes = [];
  circuit = new CircuitBreaker(clock, (state) => changes.push(state));
});

const endingOf = (ending: Ending) =>
  ending === "no answer"
    ? err({ kind: "no_answer" as const, reason: "ECONNRESET" })
    : ok({ status: ending, retryAfter: undefined, body: {} });

/** Whether it was sent. */
const called = async (method: "GET" | "POST", ending: Ending): Promise<boolean> =>
  (await circuit.run(method, async () => endingOf(ending))) !== undefined;

const calls = async (method: "GET" | "POST", endings: readonly Ending[]): Promise<void> => {
  for (const ending of endings) await called(method, ending);
};

const opened = () =>
  calls(
    "POST",
    Array.from({ length: 5 }, () => "no answer"),
  );

it("sends no more calls after five without an answer in a row", async () => {
  await calls("GET", ["no answer", "no answer", "no answer", "no answer"]);
  expect(circuit.readiness()).toBe("ready");
  await called("POST", "no answer");
  expect(circuit.readiness()).toBe("down");
  expect([await called("GET", 200), await called("POST", 200)]).toEqual([false, false]);
});

it("gives the outcome of a call that was sent to whoever asked for it", async () => {
  expect(await circuit.run("GET", async () => endingOf(500))).toEqual(endingOf(500));
  expect(await circuit.run("POST", async () => endingOf("no answer"))).toEqual(endingOf("no answer"));
});

it("starts counting again with every answer, be it a refusal or a 429", async () => {
  for (const status of [200, 401, 404, 429]) {
    await calls("POST", ["no answer", 500, 503, 504]);
    await called("GET", status);
  }
  expect(circuit.readiness()).toBe("ready");
});

it("is not stopped by one task whose status is always 500, nor does that task hide that nothing works", async () => {
  await calls("GET", [500, 500, 500, 500, 500, 500, 500, 500]);
  expect(circuit.readiness()).toBe("ready");
  await calls("POST", [500, 500, 500, 500]);
  await calls("GET", [500, 500]);
  await called("POST", 500);
  expect(circuit.readiness()).toBe("down");
});

describe("a circuit that is open", () => {
  beforeEach(opened);

  it("is tried with one call after 10 seconds, and its answer closes it", async () => {
    await clock.advance(9_999);
    expect([circuit.readiness(), circuit.silentMilliseconds]).toEqual(["down", 1]);
    await clock.advance(1);
    expect([circuit.readiness(), circuit.silentMilliseconds]).toEqual(["probing", 0]);
    expect(await called("GET", 200)).toBe(true);
    expect(circuit.readiness()).toBe("ready");
    await calls("GET", ["no answer", "no answer", "no answer", "no answer"]);
    expect(circuit.readiness()).toBe("ready");
    expect(changes).toEqual(["open", "half-open", "closed"]);
  });

  it("is tried at once when the clock has been set back: nobody knows how long the break was", async () => {
    clock.setBack(3_600_000);
    expect([circuit.readiness(), circuit.silentMilliseconds]).toEqual(["probing", 0]);
    expect(await called("GET", 200)).toBe(true);
    expect(circuit.readiness()).toBe("ready");
  });

  it("sends nothing else while the probe is under way", async () => {
    await clock.advance(10_000);
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const probe = circuit.run("GET", async () => {
      await answered;
      return endingOf(200);
    });
    expect([circuit.readiness(), circuit.silentMilliseconds]).toEqual(["down", 5_000]);
    expect([await called("GET", 200), await called("POST", 200)]).toEqual([false, false]);
    answer();
    expect(await probe).toEqual(endingOf(200));
    expect(await called("POST", 200)).toBe(true);
  });

  it.each<["GET" | "POST", Ending]>([
    ["GET", "no answer"],
    ["GET", 503],
    ["POST", 500],
  ])("waits longer and longer, up to a minute, while the probe is a %s that ends with %s", async (method, ending) => {
    const breaks: number[] = [];
    for (let probe = 0; probe < 5; probe += 1) {
      breaks.push(circuit.silentMilliseconds);
      await clock.advance(circuit.silentMilliseconds);
      expect(await called(method, ending)).toBe(true);
    }
    expect(breaks).toEqual([10_000, 20_000, 40_000, 60_000, 60_000]);
    expect(circuit.readiness()).toBe("down");
  });

  it("begins with 10 seconds again at the next outage", async () => {
    await clock.advance(10_000);
    await called("GET", "no answer");
    await clock.advance(20_000);
    await called("GET", 429);
    await opened();
    expect(circuit.silentMilliseconds).toBe(10_000);
  });
});

it("hears of calls that end late, too, and tells of each change once", async () => {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const late = Array.from({ length: 8 }, () =>
    circuit.run("POST", async () => {
      await over;
      return endingOf("no answer");
    }),
  );
  end();
  await Promise.all(late);
  expect(changes).toEqual(["open"]);
});
