import { setTimeout as pause } from "node:timers/promises";
import type { Result } from "neverthrow";
import { StoreBusy } from "../../../../application/ports/stores/store-errors.js";
import type { Sql } from "../sql/database.js";
import { isBusy } from "../sql/database-error.js";
import type { SqliteConnection } from "./sqlite-connection.js";

/** Maximum wait of a write for another process that writes to the same file. */
const BUSY_MILLISECONDS = 10_000;
const BUSY_PAUSE_MILLISECONDS = 5;

/** What a part of a transaction has come to. */
export type PartOutcome = { readonly result: Result<unknown, unknown> } | { readonly thrown: unknown };

/**
 * Waits without blocking the event loop while another process holds the write lock, or while an embedder has a
 * transaction on its connection.
 */
export async function begin(connection: SqliteConnection, statement: string): Promise<void> {
  const deadline = performance.now() + BUSY_MILLISECONDS;
  for (;;) {
    try {
      return connection.execute(statement);
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > deadline) {
        throw new StoreBusy("Another process has held the write lock of the SQLite file.", { cause: error });
      }
      await pause(BUSY_PAUSE_MILLISECONDS);
    }
  }
}

/**
 * Runs a part of the open transaction. A thrown error or an `Err` undoes only what the part has written. Throws if the
 * whole transaction is rolled back.
 */
export async function runInSavepoint(
  connection: SqliteConnection,
  run: (sql: Sql) => Promise<Result<unknown, unknown>>,
): Promise<PartOutcome> {
  connection.execute("savepoint one");
  let undoneBy: unknown;
  const outcome = await run(async (statement, parameters = []) => {
    if (undoneBy !== undefined) throw undoneBy; // a further statement would be committed alone, or with another's
    try {
      return connection.all(statement, parameters);
    } catch (error) {
      if (!connection.isTransaction) undoneBy = error;
      throw error;
    }
  }).then(
    (result): PartOutcome => ({ result }),
    (thrown: unknown): PartOutcome => ({ thrown }),
  );
  // Some errors (a full disk) roll the whole transaction back: then all of the group fail, with that error.
  if (!connection.isTransaction) throw "thrown" in outcome ? outcome.thrown : undoneBy;
  undoneBy = new Error("A statement came after the end of its transaction.");
  if ("thrown" in outcome || outcome.result.isErr()) connection.execute("rollback to one");
  connection.execute("release one");
  return outcome;
}
