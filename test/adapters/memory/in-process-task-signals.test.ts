import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { InProcessTaskSignals } from "../../../adapters/memory/in-process-signals.js";
import type { TaskId } from "../../../domain/ids.js";
import type { Task } from "../../../domain/tasks/task.js";

const task = (id: string) => ({ id }) as Task;
const id = (id: string) => id as TaskId;
const never = new AbortController().signal;

describe("InProcessTaskSignals", () => {
  it("wakes all waits for the announced task and no others", async () => {
    const signals = new InProcessTaskSignals();
    const woken: string[] = [];
    const waits = ["a", "a", "b"].map((name) => signals.next(id(name), never).then(() => woken.push(name)));
    signals.announce(task("a"));
    await Promise.all(waits.slice(0, 2));
    expect(woken).toEqual(["a", "a"]);
    signals.announce(task("b"));
    await waits[2];
    expect(woken).toEqual(["a", "a", "b"]);
  });

  it("ends a wait when its signal is aborted, also before the wait begins", async () => {
    const signals = new InProcessTaskSignals();
    const abort = new AbortController();
    const wait = signals.next(id("a"), abort.signal);
    abort.abort();
    await wait;
    await signals.next(id("a"), abort.signal);
    expect(signals.waitedFor().length).toBe(0);
  });

  it("keeps no listener of an ended wait, neither after an announcement nor after an abort", async () => {
    const signals = new InProcessTaskSignals();
    const { signal } = new AbortController();
    for (let round = 0; round < 50; round += 1) {
      const abort = new AbortController();
      const waits = [
        signals.next(id("a"), signal),
        signals.next(id("a"), abort.signal),
        signals.next(id("b"), abort.signal),
      ];
      abort.abort();
      signals.announce(task("a"));
      await Promise.all(waits);
    }
    expect(signals.waitedFor().length).toBe(0);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});
