import type { Spender } from "../../../application/ports/stores/tasks/task-store.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import { dayOf, monthOf, type Spending } from "../../../domain/credits/budget.js";
import type { AccountId } from "../../../domain/ids.js";
import type { OpenedTask } from "../../../domain/tasks/open-task.js";
import type { FailedTask } from "../../../domain/tasks/task.js";
import { branded, integer, type Row } from "../database/sql/columns.js";
import type { Sql } from "../database/sql/database.js";
import type { Statement } from "../database/sql/statement.js";

/*
 * The running sums behind domain/credits/budget.ts, one row for each key and each day. Every transaction that writes
 * them also writes the row of the key's account, so whoever has locked that row, or finds it unchanged, knows the sums.
 */

/** The sums of the rows of `key_spending` that a query selects. Their first parameter is the current day. */
const SUMS = `cast(coalesce(sum(case when day = ? then credits end), 0) as integer) as today,
  cast(coalesce(sum(credits), 0) as integer) as this_month`;

export const toSpending = (row: Row): Spending => ({
  today: integer(row, "today"),
  thisMonth: integer(row, "this_month"),
});

/** Selects `today` and `this_month` of one key, as one row. */
export function spendingOfKey({ apiKeyId, now }: Spender): Statement {
  const { first, last } = monthOf(now);
  return {
    text: `select ${SUMS} from key_spending where api_key_id = ? and day between ? and ?`,
    parameters: [dayOf(now), apiKeyId, first, last],
  };
}

export async function readSpending(sql: Sql, spender: Spender): Promise<Spending> {
  const { text, parameters } = spendingOfKey(spender);
  const [row] = await sql(text, parameters);
  return toSpending(row ?? {});
}

export async function readSpendingOfAccount(
  sql: Sql,
  account: AccountId,
  now: Date,
): Promise<ReadonlyMap<ApiKeyId, Spending>> {
  const { first, last } = monthOf(now);
  const rows = await sql(
    `select api_key_id, ${SUMS} from api_key join key_spending on key_spending.api_key_id = api_key.id
    where account_id = ? and day between ? and ? group by api_key_id`,
    [dayOf(now), account, first, last],
  );
  const all = rows.map((row) => [branded<ApiKeyId>(row, "api_key_id"), toSpending(row)] as const);
  return new Map(all.filter(([, { thisMonth }]) => thisMonth > 0));
}

/** Adds a new task to the sum of its key and day, unless the key is deleted. `source` as in `insertion`. */
export const spend = (task: OpenedTask["task"], source?: string): Statement[] =>
  task.apiKeyId === undefined
    ? []
    : [
        {
          text: `insert into key_spending (api_key_id, day, credits)
            select api_key.id, ?, ? from api_key${source === undefined ? "" : ` cross join ${source}`} where api_key.id = ?
            on conflict (api_key_id, day) do update set credits = key_spending.credits + excluded.credits`,
          parameters: [dayOf(task.reservedAt), task.reservation.credits, task.apiKeyId],
        },
      ];

/** Takes a refunded task out of the sum of its key and day. */
export const refundSpending = (task: FailedTask): Statement[] =>
  task.apiKeyId === undefined
    ? []
    : [
        {
          text: "update key_spending set credits = credits - ? where api_key_id = ? and day = ?",
          parameters: [task.reservation.credits, task.apiKeyId, dayOf(task.reservedAt)],
        },
      ];
