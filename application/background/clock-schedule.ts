import type { Clock } from "../ports/clock.js";
import type { MakeSchedule, ScheduledWork } from "../ports/schedule.js";
import { workRuns } from "./work-runs.js";

/** Schedules work by a clock alone. Setting the clock back or forward changes the start of at most one run. */
export const clockSchedule =
  (clock: Clock): MakeSchedule =>
  (works, onFailure) => {
    const runs = workRuns(works, clock, onFailure);
    // A signal for each work: Node.js warns about more than ten listeners of one signal.
    const repeated = works.map((work) => ({ work, stopping: new AbortController() }));
    const repeat = async ({ work, stopping: { signal } }: (typeof repeated)[number]): Promise<void> => {
      while (!signal.aborted) {
        await clock.sleep(millisecondsUntilNext(work, clock.now()), signal);
        await runs.run(work.name);
      }
    };
    return {
      start: () => {
        for (const one of repeated) void repeat(one);
      },
      wake: runs.wake,
      stop: (deadlineMilliseconds) => {
        for (const { stopping } of repeated) stopping.abort();
        return runs.stop(deadlineMilliseconds);
      },
    };
  };

/** More than 0, and at most the time between two runs. */
const millisecondsUntilNext = ({ everySeconds, offsetSeconds = 0 }: ScheduledWork, now: Date): number => {
  const every = everySeconds * 1000;
  const since = (now.getTime() - offsetSeconds * 1000) % every;
  return every - since;
};
