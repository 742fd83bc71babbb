import type { AccountId } from "../../../domain/ids.js";
import { turnsAfterEnd, turnsAfterReturn } from "../../../domain/tasks/queue.js";
import type { QueuedTask, SubmittingTask, Task } from "../../../domain/tasks/task.js";
import { branded, integer, type Row } from "../sql/columns.js";
import type { Dialect, Sql } from "../sql/database.js";
import { type Statement, update } from "../sql/statement.js";
import { writeInOneRoundTrip } from "../sql/write-in-one-round-trip.js";
import { lockAccount } from "./lock-account.js";
import { lockRound } from "./queue-rows.js";

/** Gives a task that returns its turn, and the newer waiting tasks of its account the turns after it. */
export const takeTurn = async (sql: Sql, dialect: Dialect, { id, accountId }: SubmittingTask): Promise<number> => {
  const { lastTurn } = await lockAccount(sql, accountId);
  const round = await lockRound(sql);
  const newer = await sql(
    "select id, turn from task where account_id = ? and id > ? and state = 'queued' order by id",
    [accountId, id],
  );
  const turns = turnsAfterReturn({ round }, lastTurn, turnsOf(newer));
  const [turn = round, ...others] = turns;
  await writeInOneRoundTrip(sql, dialect, [
    ...turnUpdates([id, ...idsOf(newer)], turns),
    update("account", { last_turn: Math.max(lastTurn, turn, ...others) }, { id: accountId }),
  ]);
  return turn;
};

/** Locks the account and the queue, so that no other transaction changes turns. Returns the account's last turn. */
export const lockTurns = async (sql: Sql, accountId: AccountId): Promise<number> => {
  const { lastTurn } = await lockAccount(sql, accountId);
  await lockRound(sql);
  return lastTurn;
};

/** A queued task has ended: what its account's row and the newer waiting tasks get. The turns are locked. */
export const turnsGivenBack = async (
  sql: Sql,
  { accountId, turn }: QueuedTask,
  lastTurn: number,
): Promise<{ readonly account: Statement; readonly others: readonly Statement[] }> => {
  const newer = await sql(
    "select id, turn from task where account_id = ? and state = 'queued' and turn > ? order by turn",
    [accountId, turn],
  );
  const after = turnsAfterEnd(turn, lastTurn, turnsOf(newer));
  return {
    account: { text: ", last_turn = ?", parameters: [after.lastTurn] },
    others: turnUpdates(idsOf(newer), after.turns),
  };
};

const turnsOf = (rows: readonly Row[]): number[] => rows.map((row) => integer(row, "turn"));

const idsOf = (rows: readonly Row[]): Task["id"][] => rows.map((row) => branded<Task["id"]>(row, "id"));

const turnUpdates = (ids: readonly Task["id"][], turns: readonly number[]): Statement[] =>
  ids.map((id, index) => update("task", { turn: turns[index] ?? null }, { id, state: "queued" }));
