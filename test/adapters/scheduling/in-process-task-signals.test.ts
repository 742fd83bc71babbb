import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { InProcessTaskSignals } from "../../../adapters/scheduling/in-process-task-signals.js";
import type { Task } from "../../../domain/task.js";
import type { TaskId } from "../../../domain/task-id.js";

const task = (id: string) => ({ id }) as Task;
const id = (id: string) => id as TaskId;
const never = new AbortController().signal;

describe("task signals", () => {
  it("wake everybody who waits for the task, and nobody else", async () => {
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

  it("end a wait when it is aborted, or was before it began", async () => {
    const signals = new InProcessTaskSignals();
    const abort = new AbortController();
    const wait = signals.next(id("a"), abort.signal);
    abort.abort();
    await wait;
    await signals.next(id("a"), abort.signal);
    expect(signals.size).toBe(0);
  });

  it("remember nothing of waits that are over, however they ended", async () => {
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
    expect(signals.size).toBe(0);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("tell subscribers of every announcement until they have had enough", () => {
    const signals = new InProcessTaskSignals();
    const heard: string[] = [];
    const unsubscribe = signals.subscribe(({ id }) => heard.push(id));
    signals.announce(task("a"));
    signals.announce(task("b"));
    unsubscribe();
    signals.announce(task("c"));
    expect(heard).toEqual(["a", "b"]);
  });
});
