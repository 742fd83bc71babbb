import type { Spender } from "../../application/ports/task-store.js";
import type { AccountId } from "../../domain/account.js";
import type { ApiKeyId } from "../../domain/api-key.js";
import { dayOf, monthOf, type Spending } from "../../domain/budget.js";
import type { FailedTask, OpenedTask } from "../../domain/task.js";
import { branded, integer, type Row } from "./columns.js";
import type { Sql } from "./database.js";
import { insertion, type Statement } from "./statement.js";

/*
 * The running sums behind domain/budget.ts, one row for each key and day. Every transaction that writes them also writes
 * the row of the key's account, so whoever has locked that row, or finds it unchanged, knows the sums.
 */

/** The sums of the rows of `key_spending` that a query selects. Their first parameter is the current day. */
const SUMS = `cast(coalesce(sum(case when day = ? then credits end), 0) as integer) as today,
  cast(coalesce(sum(credits), 0) as integer) as this_month`;

export const toSpending = (row: Row): Spending => ({
  today: integer(row, "today"),
  thisMonth: integer(row, "this_month"),
});

/** Selects `today` and `this_month` of one key, as one row. */
export const spendingOfKey = ({ apiKeyId, now }: Spender): Statement => {
  const { first, last } = monthOf(now);
  return {
    text: `select ${SUMS} from key_spending where api_key_id = ? and day between ? and ?`,
    parameters: [dayOf(now), apiKeyId, first, last],
  };
};

export const readSpending = async (sql: Sql, spender: Spender): Promise<Spending> => {
  const { text, parameters } = spendingOfKey(spender);
  const [row] = await sql(text, parameters);
  return toSpending(row ?? {});
};

export const readSpendingOfAccount = async (
  sql: Sql,
  account: AccountId,
  now: Date,
): Promise<ReadonlyMap<ApiKeyId, Spending>> => {
  const { first, last } = monthOf(now);
  const rows = await sql(
    `select api_key_id, ${SUMS} from key_spending join api_key on api_key.id = key_spending.api_key_id
    where account_id = ? and day between ? and ? group by api_key_id`,
    [dayOf(now), account, first, last],
  );
  return new Map(rows.map((row) => [branded<ApiKeyId>(row, "api_key_id"), toSpending(row)]));
};

/** Adds a new task to the sum of its key and day. `source` as in `insertion`. */
export const spend = (task: OpenedTask["task"], source?: string): Statement[] => {
  if (task.apiKeyId === undefined) return [];
  const row = { api_key_id: task.apiKeyId, day: dayOf(task.reservedAt), credits: task.reservation.credits };
  const { text, parameters } = insertion("key_spending", row, source);
  // Without "where", SQLite takes "on conflict" for a join.
  const conflict = `${source === undefined ? "" : "where true"}
    on conflict (api_key_id, day) do update set credits = key_spending.credits + excluded.credits`;
  return [{ text: `${text} ${conflict}`, parameters }];
};

/** Takes a refunded task out of the sum of its key and day. */
export const giveBack = (task: FailedTask): Statement[] =>
  task.apiKeyId === undefined
    ? []
    : [
        {
          text: "update key_spending set credits = credits - ? where api_key_id = ? and day = ?",
          parameters: [task.reservation.credits, task.apiKeyId, dayOf(task.reservedAt)],
        },
      ];
