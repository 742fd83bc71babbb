import type { Clock } from "../../../../application/ports/clock.js";
import { MACHINE_TIME, SteadyClock } from "../../../system/steady-clock.js";
import type { Database } from "./database.js";
import { postgresTime } from "./database-time.js";

/** Result of a comparison with the clock of the database, or with the wall clock on SQLite. */
export type Comparison = {
  /** Lead of this machine's wall clock over the used time; negative if it is behind. */
  readonly wallAheadMilliseconds: number;
  /** By how much the time that is used was corrected. */
  readonly correctedMilliseconds: number;
};

/** A clock that follows a database until it is closed. */
export type DatabaseClock = Clock & {
  /** Lead of this machine's wall clock; negative if it is behind. */
  wallAheadMilliseconds(): number;
  close(): void;
};

type Options = {
  /** Called after each comparison. */
  readonly onCompared?: ((comparison: Comparison) => void) | undefined;
  /** Wall clock, steady time and uptime of this machine, in milliseconds. Tests replace them. */
  readonly machine?: { wall(): number; steady(): number; uptime(): number } | undefined;
};

const COMPARISON_MILLISECONDS = 5_000;
/** The fastest of them counts most. */
const COMPARISONS_AT_FIRST = 3;

/** On SQLite, a larger difference means that the clock was not set before. */
const SLOW_MILLISECONDS_MAX = 60 * 60 * 1000;
/** A smaller difference is corrected by this part of the passing time, so deadlines are wrong by at most this part. */
const SLOW_PART = 0.1;

/**
 * The clock of all processes on one database. On PostgreSQL it shows the server's time, to within the duration of a
 * statement, whatever the wall clocks of the machines show. While the server does not answer, the time goes on. On
 * SQLite all processes are on one machine, and the clock follows the wall clock. If that is set by up to an hour, it
 * follows slowly, so that no deadline passes and no lease ends because of it. Resolves after the first comparison.
 */
export async function openDatabaseClock(
  { dialect, sql }: Pick<Database, "dialect" | "sql">,
  { onCompared, machine = MACHINE_TIME }: Options = {},
): Promise<DatabaseClock> {
  const steady = new SteadyClock(machine);
  const correct = dialect === "postgresql" ? () => followServer(steady, () => postgresTime(sql)) : followWall(steady);
  const compare = async (): Promise<void> => {
    const correctedMilliseconds = await correct();
    onCompared?.({ wallAheadMilliseconds: steady.wallAheadMilliseconds(), correctedMilliseconds });
  };

  for (let left = COMPARISONS_AT_FIRST; left > 0; left -= 1) await compare();
  let isComparing = false;
  const compareAgain = async (): Promise<void> => {
    if (isComparing) return;
    isComparing = true;
    try {
      await compare();
    } catch {
      // The database does not answer. Others report it.
    } finally {
      isComparing = false;
    }
  };
  steady.onDoubt = () => void compareAgain();
  const timer = setInterval(compareAgain, COMPARISON_MILLISECONDS).unref();
  return {
    now: () => steady.now(),
    sleep: steady.sleep,
    wallAheadMilliseconds: () => steady.wallAheadMilliseconds(),
    close: () => {
      steady.onDoubt = () => {};
      clearInterval(timer);
    },
  };
}

/**
 * The server read its clock at some moment between `sent` and `answered`. So a slow answer says little: it corrects the
 * clock only as far as it proves it wrong.
 */
async function followServer(clock: SteadyClock, readTime: () => Promise<number>): Promise<number> {
  const sent = clock.milliseconds();
  const time = await readTime();
  const answered = clock.milliseconds();
  if (sent <= time && time <= answered) return 0;
  const correction = time - (sent + answered) / 2;
  clock.correct(correction);
  return correction;
}

function followWall(clock: SteadyClock): () => Promise<number> {
  let last = clock.milliseconds();
  return async () => {
    const behind = clock.wallAheadMilliseconds();
    const slow = SLOW_PART * (clock.milliseconds() - last);
    const correction = Math.abs(behind) > SLOW_MILLISECONDS_MAX ? behind : Math.max(-slow, Math.min(slow, behind));
    clock.correct(correction);
    last = clock.milliseconds();
    return correction;
  };
}
