import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { accountId, aSubmittingTask, taskId } from "../../../adapters/contracts/support/builders.js";
import { InProcessEventSignals, InProcessTaskSignals } from "../../../adapters/memory/in-process-signals.js";

type Waits<Id> = {
  next(id: Id, signal: AbortSignal): Promise<void>;
  waitedFor(): Id[];
  wake(id: Id): void;
};

const describeWaits = <Id>(make: () => Waits<Id>, idOf: (n: number) => Id): void => {
  const [one, other] = [idOf(1), idOf(2)];

  it("ends the waits for woken tasks, and no others", async () => {
    const signals = make();
    const { signal } = new AbortController();
    const waits = [signals.next(one, signal), signals.next(one, signal)];
    const last = signals.next(other, signal);
    expect(signals.waitedFor()).toEqual([one, other]);
    signals.wake(one);
    await Promise.all(waits);
    expect(signals.waitedFor()).toEqual([other]);
    signals.wake(other);
    await last;
    expect(signals.waitedFor()).toEqual([]);
  });

  it("does nothing if nobody waits", async () => {
    const signals = make();
    signals.wake(one);
    expect(signals.waitedFor()).toEqual([]);
  });

  it("ends a wait whose signal is aborted, also before it begins", async () => {
    const signals = make();
    const stop = new AbortController();
    const wait = signals.next(one, stop.signal);
    stop.abort();
    await wait;
    await signals.next(one, stop.signal);
    expect(signals.waitedFor()).toEqual([]);
  });

  it("keeps no listener of a wait that has ended", async () => {
    const signals = make();
    const { signal } = new AbortController();
    for (let n = 0; n < 20; n += 1) {
      const wait = signals.next(one, signal);
      signals.wake(one);
      await wait;
    }
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
};

describe("InProcessTaskSignals", () => {
  describeWaits(() => new InProcessTaskSignals(), taskId);

  it("ends the waits for a task that is announced, and no others", async () => {
    const signals = new InProcessTaskSignals();
    const never = new AbortController().signal;
    const waits = [signals.next(taskId(1), never), signals.next(taskId(1), never)];
    const stop = new AbortController();
    const other = signals.next(taskId(2), stop.signal);
    signals.announce(aSubmittingTask({ id: taskId(1) }));
    await Promise.all(waits);
    expect(signals.waitedFor()).toEqual([taskId(2)]);
    stop.abort();
    await other;
  });
});

describe("InProcessEventSignals", () => describeWaits(() => new InProcessEventSignals(), accountId));
