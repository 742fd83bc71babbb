import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  aFailedTask,
  aGeneratedTask,
  anImageName,
  aQueuedTask,
  aSubmittedTask,
  aSubmittingTask,
  aSucceededTask,
  noon,
  secondsAfter,
} from "../../../adapters/contracts/support/builders.js";
import { type GenerationTime, generationTime } from "../../../application/panoramas/generation-time.js";
import { keep, uploading } from "../../../domain/images/storage-status.js";
import type { Task } from "../../../domain/tasks/task.js";

/** A task that succeeded this long after its submission. */
const lasting = (milliseconds: number) =>
  aSucceededTask({ submittedAt: noon, succeededAt: new Date(noon.getTime() + milliseconds) });

describe("generationTime", () => {
  it("lately returns undefined before the first success", () => {
    const time = generationTime();
    time.add(aSubmittedTask());
    time.add(aFailedTask());
    expect(time.lately()).toBeUndefined();
    time.add(lasting(10_000));
    expect(time.lately()).toBe(10_000);
    time.add(aFailedTask());
    expect(time.lately()).toBe(10_000);
  });

  it("moves a fifth of the way to each new time, and stays between the shortest and the longest one", () => {
    const time = generationTime();
    time.add(lasting(10_000));
    time.add(lasting(20_000));
    expect(time.lately()).toBe(12_000);
    time.add(lasting(2_000));
    expect(time.lately()).toBe(10_000);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 600_000 }), { minLength: 1 }), (times) => {
        const lately = generationTime();
        for (const milliseconds of times) lately.add(lasting(milliseconds));
        expect(lately.lately()).toBeGreaterThanOrEqual(Math.min(...times) - 0.001);
        expect(lately.lately()).toBeLessThanOrEqual(Math.max(...times) + 0.001);
      }),
    );
  });

  describe("says that a task takes longer than usual", () => {
    const isLateAfter = (time: GenerationTime, task: Task, seconds: number) =>
      time.isLate(task, secondsAfter(noon, seconds));
    const submitted = aSubmittedTask({ reservedAt: secondsAfter(noon, -3600), submittedAt: noon });

    it("after ten minutes in the queue, or of a generation while nothing is known about others", () => {
      const time = generationTime();
      const queued = aQueuedTask({ reservedAt: noon });
      const generated = aGeneratedTask({ reservedAt: secondsAfter(noon, -3600), submittedAt: noon });
      for (const task of [queued, aSubmittingTask({ reservedAt: noon }), submitted, generated])
        expect([600, 601].map((seconds) => isLateAfter(time, task, seconds))).toEqual([false, true]);
      time.add(lasting(1_000));
      expect(isLateAfter(time, queued, 600)).toBe(false);
    });

    it("when a generation takes three times as long as lately, but not before a minute", () => {
      const time = generationTime();
      time.add(lasting(1_000));
      expect([60, 61].map((seconds) => isLateAfter(time, submitted, seconds))).toEqual([false, true]);
      const slow = generationTime();
      slow.add(lasting(400_000));
      expect([1200, 1201].map((seconds) => isLateAfter(slow, submitted, seconds))).toEqual([false, true]);
    });

    it("when its image is being saved for a minute, and never when it is finished", () => {
      const time = generationTime();
      const saving = aSucceededTask({ succeededAt: noon });
      expect([60, 61].map((seconds) => isLateAfter(time, saving, seconds))).toEqual([false, true]);
      const saved = aSucceededTask({
        succeededAt: noon,
        image: keep(uploading("https://provider.example.com/1.jpg", anImageName())),
      });
      for (const task of [aFailedTask(), saved]) expect(isLateAfter(time, task, 9_999_999)).toBe(false);
    });
  });
});
