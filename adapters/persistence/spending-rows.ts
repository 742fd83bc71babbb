import type { Spender } from "../../application/ports/task-store.js";
import type { AccountId } from "../../domain/account.js";
import type { ApiKeyId } from "../../domain/api-key.js";
import { dayOf, endOf, monthOf, type Spending, startOf } from "../../domain/budget.js";
import type { FailedTask, OpenedTask } from "../../domain/task.js";
import { branded, integer, type Row } from "./columns.js";
import type { Sql } from "./database.js";
import { insertion, type Statement } from "./statement.js";

/*
 * The running sums behind domain/budget.ts, one row for each key with a budget and each day. Every transaction that
 * writes them also writes the row of the key's account, so whoever has locked that row, or finds it unchanged, knows the
 * sums.
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

/**
 * The tasks of the current month, from the newest to the first older one: ids sort by creation time. Nothing counts what
 * keys without a budget spend, so that their creations cost nothing for it.
 */
const OF_UNLIMITED_KEYS = `select api_key_id,
    cast(coalesce(sum(case when reserved_at >= ? and reserved_at < ? then credits end), 0) as integer) as today,
    cast(sum(credits) as integer) as this_month
  from task where account_id = ? and state <> 'failed' and reserved_at >= ? and reserved_at < ?
    and id > coalesce((
      select id from task where account_id = ? and reserved_at < ? order by id desc limit 1
    ), '')
    and api_key_id in (
      select id from api_key where account_id = ? and credits_per_day is null and credits_per_month is null
    )
  group by api_key_id`;

export const readSpendingOfAccount = async (
  sql: Sql,
  account: AccountId,
  now: Date,
): Promise<ReadonlyMap<ApiKeyId, Spending>> => {
  const { first, last } = monthOf(now);
  const counted = await sql(
    `select api_key_id, ${SUMS} from key_spending join api_key on api_key.id = key_spending.api_key_id
    where account_id = ? and day between ? and ? group by api_key_id`,
    [dayOf(now), account, first, last],
  );
  const [today, tomorrow] = [startOf("day", now), endOf("day", now)];
  const [month, nextMonth] = [startOf("month", now), endOf("month", now)];
  const parameters = [today, tomorrow, account, month, nextMonth, account, month, account];
  const summed = await sql(OF_UNLIMITED_KEYS, parameters);
  return new Map([...counted, ...summed].map((row) => [branded<ApiKeyId>(row, "api_key_id"), toSpending(row)]));
};

/** Adds a new task to the sum of its key and day. `source` as in `insertion`. */
export const spend = (task: OpenedTask["task"], source?: string): Statement => {
  const row = { api_key_id: task.apiKeyId, day: dayOf(task.reservedAt), credits: task.reservation.credits };
  const { text, parameters } = insertion("key_spending", row, source);
  // Without "where", SQLite takes "on conflict" for a join.
  const conflict = `${source === undefined ? "" : "where true"}
    on conflict (api_key_id, day) do update set credits = key_spending.credits + excluded.credits`;
  return { text: `${text} ${conflict}`, parameters };
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
