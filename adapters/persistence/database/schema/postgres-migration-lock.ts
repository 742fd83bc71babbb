import { setTimeout } from "node:timers/promises";

/**
 * How long a statement of a migration waits for a table. Requests of a running service wait behind it meanwhile.
 * Shorter than the time after which PostgreSQL looks for deadlocks, so that the migration gives way and never a
 * request.
 */
export const MIGRATION_LOCK_MILLISECONDS = 500;
const PAUSE_MILLISECONDS = 250;
/** For all attempts together. */
const ATTEMPTS_MILLISECONDS = 120_000;

const LOCK_NOT_AVAILABLE = "55P03";
const DEADLOCK_DETECTED = "40P01";

/** Repeats `migrate` while it fails because it did not get a table within `MIGRATION_LOCK_MILLISECONDS`. */
export async function repeatWhileLocked<T>(migrate: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + ATTEMPTS_MILLISECONDS;
  for (;;) {
    try {
      return await migrate();
    } catch (error) {
      if (!isRefusedLock(error) || performance.now() > deadline) throw error;
      await setTimeout(PAUSE_MILLISECONDS);
    }
  }
}

function isRefusedLock(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  return code === LOCK_NOT_AVAILABLE || code === DEADLOCK_DETECTED;
}
