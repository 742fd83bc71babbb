import { describe, expect, it } from "vitest";
import {
  aFailedTask,
  aGeneratedTask,
  aQueuedTask,
  aSubmittedTask,
  aSubmittingTask,
  aSucceededTask,
  noon,
} from "../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { InProcessTaskSignals } from "../../../adapters/memory/in-process-signals.js";
import { ScriptedProvider } from "../../../adapters/memory/scripted-provider.js";
import { generationTime } from "../../../application/panoramas/generation-time.js";
import { progress } from "../../../application/panoramas/progress.js";
import { aWorld } from "../../support/world.js";

const GENERATION_SECONDS = 40;

describe("progress.forecast", () => {
  const set = ({ ahead = 0, slots = 2, isKnown = true }) => {
    const clock = new HandClock(noon);
    const provider = new ScriptedProvider();
    provider.concurrencyMax = slots;
    const time = generationTime();
    const succeededAt = new Date(noon.getTime() + GENERATION_SECONDS * 1000);
    if (isKnown) time.add(aSucceededTask({ submittedAt: noon, succeededAt }));
    let reads = 0;
    const world = aWorld();
    const tasks = Object.assign(Object.create(world.tasks) as typeof world.tasks, {
      countAhead: async (_: unknown, max: number) => {
        reads += 1;
        return Math.min(ahead, max);
      },
    });
    return {
      clock,
      reads: () => reads,
      forecast: progress({ tasks, provider, generationTime: time, clock, signals: new InProcessTaskSignals() })
        .forecast,
    };
  };

  it("returns the place of a waiting task, and the time of the tasks ahead plus its own", async () => {
    expect(await set({ ahead: 3 }).forecast(aQueuedTask())).toEqual({ ahead: 3, estimatedSeconds: 120 });
    expect(await set({ ahead: 0 }).forecast(aQueuedTask())).toEqual({ ahead: 0, estimatedSeconds: 60 });
  });

  it("estimates nothing behind more tasks than are counted, before a generation has succeeded, or without slots", async () => {
    expect(await set({ ahead: 100 }).forecast(aQueuedTask())).toEqual({ ahead: 100, estimatedSeconds: 2060 });
    expect(await set({ ahead: 5_000 }).forecast(aQueuedTask())).toEqual({ ahead: 101 });
    expect(await set({ ahead: 3, isKnown: false }).forecast(aQueuedTask())).toEqual({ ahead: 3 });
    expect(await set({ ahead: 3, slots: 0 }).forecast(aQueuedTask())).toEqual({ ahead: 3 });
    for (const task of [aSubmittingTask(), aSubmittedTask(), aGeneratedTask()]) {
      expect(await set({ isKnown: false }).forecast(task)).toEqual({});
    }
  });

  it("returns the rest of the usual time for a running task, at least 1 s, without a read", async () => {
    const { clock, reads, forecast } = set({});
    const running = [aSubmittedTask({ submittedAt: noon }), aGeneratedTask({ submittedAt: noon })];
    const left = () => running.map((task) => forecast(task));
    expect(forecast(aSubmittingTask())).toEqual({ estimatedSeconds: 40 });
    expect(left()).toEqual([{ estimatedSeconds: 40 }, { estimatedSeconds: 40 }]);
    await clock.advance(30_400);
    expect(left()).toEqual([{ estimatedSeconds: 10 }, { estimatedSeconds: 10 }]);
    await clock.advance(60_000);
    expect(left()).toEqual([{ estimatedSeconds: 1 }, { estimatedSeconds: 1 }]);
    const afterTheClockWasSetBack = aSubmittedTask({ submittedAt: new Date(clock.now().getTime() + 60_000) });
    expect(forecast(afterTheClockWasSetBack)).toEqual({ estimatedSeconds: 40 });
    expect([forecast(aSucceededTask()), forecast(aFailedTask())]).toEqual([{}, {}]);
    expect(reads()).toBe(0);
  });
});
