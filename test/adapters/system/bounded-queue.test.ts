import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { BoundedQueue } from "../../../adapters/system/semaphore.js";

/** A queue, the numbers of the works that have started, and a function that ends the running one. */
const aQueue = (waitingMax: number) => {
  const queue = new BoundedQueue(waitingMax);
  const started: number[] = [];
  const ends: ((fail?: Error) => void)[] = [];
  const run = (number: number, signal?: AbortSignal) =>
    queue.run(async () => {
      started.push(number);
      await new Promise<void>((resolve, reject) => ends.push((fail) => (fail ? reject(fail) : resolve())));
      return number;
    }, signal);
  const endOne = async (fail?: Error) => {
    await setImmediate();
    ends.shift()?.(fail);
    await setImmediate();
  };
  return { queue, started, run, endOne };
};

describe("BoundedQueue", () => {
  it("runs one piece of work at a time, in order of arrival, also after one fails", async () => {
    const { queue, started, run, endOne } = aQueue(5);
    const outcomes = Promise.allSettled([run(0), run(1), run(2), run(3)]);
    for (const running of [1, 2, 3, 4]) {
      await setImmediate();
      expect(started).toEqual([0, 1, 2, 3].slice(0, running));
      await endOne(running === 2 ? new Error("failed") : undefined);
    }
    expect(await outcomes).toEqual([
      { status: "fulfilled", value: { done: 0 } },
      { status: "rejected", reason: new Error("failed") },
      { status: "fulfilled", value: { done: 2 } },
      { status: "fulfilled", value: { done: 3 } },
    ]);
    expect(await queue.run(async () => "free again")).toEqual({ done: "free again" });
  });

  it("refuses work at once while as much work waits as may wait", async () => {
    const { started, run, endOne } = aQueue(2);
    const admitted = [run(0), run(1), run(2)];
    expect(await run(3)).toBe("full");
    await endOne();
    admitted.push(run(4)); // one has started, so there is room again
    expect(await run(5)).toBe("full");
    for (let n = 0; n < 4; n += 1) await endOne();
    expect(await Promise.all(admitted)).toEqual([{ done: 0 }, { done: 1 }, { done: 2 }, { done: 4 }]);
    expect(started).toEqual([0, 1, 2, 4]);
  });

  it("drops waiting work whose caller leaves, at once, and makes room for other work", async () => {
    const { started, run, endOne } = aQueue(2);
    const leaver = new AbortController();
    const first = run(0);
    const left = [run(1, leaver.signal), run(2, leaver.signal)];
    leaver.abort();
    expect(await Promise.all(left)).toEqual(["left", "left"]);
    const next = [run(3), run(4)];
    expect(await run(5, leaver.signal)).toBe("left");
    for (let n = 0; n < 3; n += 1) await endOne();
    expect(await Promise.all([first, ...next])).toEqual([{ done: 0 }, { done: 3 }, { done: 4 }]);
    expect(started).toEqual([0, 3, 4]);
  });

  it("finishes work that runs although its caller leaves", async () => {
    const { run, endOne } = aQueue(1);
    const leaver = new AbortController();
    const running = run(0, leaver.signal);
    leaver.abort();
    await endOne();
    expect(await running).toEqual({ done: 0 });
  });
});
