import { createHash } from "node:crypto";
import { IN_GALLERY } from "../../../adapters/persistence/database/schema/indexed-conditions.js";
import type { Dialect } from "../../../adapters/persistence/database/sql/database.js";
import type { AccountId } from "../../../domain/ids.js";
import { eventIdOf } from "../../../domain/tasks/account-event.js";

/** An account of the growth test, as a client of it needs to know it. */
export type Member = {
  readonly id: AccountId;
  readonly apiKey: string;
  /** The token of a session. */
  readonly session: string;
  /** The id of its task `n`, and its slug. The newest task has the greatest number. */
  readonly taskId: (n: number) => string;
  readonly slug: (n: number) => string;
  /** When its task `n` was created. */
  readonly createdAt: (n: number) => Date;
  readonly tasks: number;
  /** Its first tasks, as many as this, have failed and are public. Those behind them are kept. */
  readonly rare: number;
  readonly endpoint: string;
  /** A position in the stream of events after which there are `EVENTS` more, from the first one on. */
  readonly lastEventId: string;
};

/** How much the account and the database have. */
export type Size = {
  /** Tasks of the account. */
  readonly tasks: number;
  /** Paid orders, pending ones, revoked keys, ended endpoints and sessions of the account. */
  readonly others: number;
};

/** The other accounts of a database. */
export type Crowd = { readonly accounts: number; readonly tasksEach: number };

export const YOUNG: Size = { tasks: 10, others: 25 };
/** It has just enough tasks for every page of the web site, and for tasks to delete. */
export const FULL: Size = { tasks: 40, others: 25 };
export const OLD: Size = { tasks: 50_000, others: 500 };

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Tasks after this share of them were canceled. */
const CANCELED_FROM = 0.8;
const RARE_MAX = 25;

/** Between two tasks of an account: a minute, or less if it has very many, because events are kept for 30 days. */
const pauseOf = (tasks: number): number => Math.min(MINUTE, (28 * DAY) / tasks);

const createdAt = (now: Date, tasks: number, n: number): number => now.getTime() - (tasks - n + 2) * pauseOf(tasks);

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

export const member = (name: string, { tasks }: Size, now: Date): Member => {
  const id = `acc_${name}` as AccountId;
  const number = (n: number) => String(n).padStart(10, "0");
  return {
    id,
    apiKey: `sk-${name.padEnd(43, "0")}`,
    session: `session-${name}`.padEnd(32, "0"),
    taskId: (n) => `pan_${number(n)}${name}`,
    slug: (n) => `${number(n)}${name.padEnd(6, "0").slice(0, 6)}`,
    createdAt: (n) => new Date(createdAt(now, tasks, n)),
    tasks,
    rare: Math.min(RARE_MAX, Math.floor(tasks * 0.4)),
    endpoint: `whk_${name}`,
    lastEventId: eventIdOf({ accountId: id, number: 0 }),
  };
};

/** Runs a statement without parameters and without a time limit. */
export type Execute = (statement: string) => Promise<void> | void;

/** What SQLite and PostgreSQL write differently. */
const dialects = {
  sqlite: {
    pad: (n: string, digits = 10) => `substr('${"0".repeat(digits)}' || (${n}), -${digits})`,
    at: (milliseconds: string) => `cast(${milliseconds} as integer)`,
    numbers: (count: number) =>
      `(with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
        select n from numbers) as numbers`,
    hash: (text: string) => `(substr('${"0".repeat(64)}' || (${text}), -64))`,
  },
  postgresql: {
    pad: (n: string, digits = 10) => `lpad(cast(${n} as text), ${digits}, '0')`,
    at: (milliseconds: string) => `to_timestamp((${milliseconds}) / 1000.0)`,
    numbers: (count: number) => `(select generate_series(cast(1 as bigint), ${count}) as n) as numbers`,
    hash: (text: string) => `lpad(${text}, 64, '0')`,
  },
} as const;

/**
 * Fills an account with a long history: a task each minute or more, of which the newest fifth was canceled at once and
 * half of that deleted; the rest has pictures, some of them public or deleted. The first `rare` tasks are failed and
 * public: a filter for them finds nothing among all newer ones.
 */
export const seedMember = async (run: Execute, dialect: Dialect, who: Member, size: Size, now: Date): Promise<void> => {
  const { pad, at, numbers } = dialects[dialect];
  const { id, rare } = who;
  const { tasks, others } = size;
  const name = id.slice("acc_".length);
  const task = `'pan_' || ${pad("n")} || '${name}'`;
  const isRare = `n <= ${rare}`;
  const isCanceled = `(n > ${Math.floor(tasks * CANCELED_FROM)} or ${isRare})`;
  const isHidden = `(${isCanceled} and n % 2 = 0 and n > ${rare} or n % 7 = 0 and n > 40)`;
  const reservedAt = at(`${now.getTime()} - (${tasks} - n + 2) * ${pauseOf(tasks)}`);
  const endedAt = at(`${now.getTime()} - (${tasks} - n + 1) * ${pauseOf(tasks)}`);
  const balance = 1_000_000;
  const spent = 4 * (tasks - rare - (tasks - Math.floor(tasks * CANCELED_FROM)));

  await run(`insert into account (id, email, credits, active_tasks, last_event, created_at)
    values ('${id}', '${name}@growth.example', ${balance}, 0, ${tasks}, ${at(`${now.getTime() - 400 * DAY}`)})`);
  await run(`insert into credit_order (id, account_id, credits, created_at, paid_at)
    select 'ord_' || ${pad("n")} || '${name}', '${id}', 500, ${at(`${now.getTime()} - n * ${DAY / 2}`)},
      case when n % 2 = 0 then ${at(`${now.getTime()} - n * ${DAY / 2}`)} end from ${numbers(2 * others)}`);
  await run(`insert into ledger_entry (account_id, kind, credits, order_id, at)
    select account_id, 'purchase', credits, id, paid_at from credit_order where account_id = '${id}' and paid_at is not null`);
  await run(`insert into ledger_entry (account_id, kind, credits, at, reason)
    values ('${id}', 'adjustment', ${balance + spent - 500 * others}, ${at(`${now.getTime() - DAY}`)}, 'goodwill')`);
  await run(`insert into api_key (id, account_id, name, prefix, secret_sha256, created_at, revoked_at)
    select 'key_' || ${pad("n")} || '${name}', '${id}', 'key ' || n, 'sk-AbCdEfGh', ${dialects[dialect].hash(`'${name}' || n`)},
      ${at(`${now.getTime() - 300 * DAY}`)}, ${at(`${now.getTime() - 200 * DAY}`)} from ${numbers(others)}`);
  await run(`insert into api_key (id, account_id, name, prefix, secret_sha256, created_at)
    values ('key_z${name}', '${id}', 'program', 'sk-AbCdEfGh', '${digest(who.apiKey)}', ${at(`${now.getTime() - 300 * DAY}`)})`);
  await run(`insert into key_spending (api_key_id, day, credits)
    select 'key_z${name}', 20240000 + n, 4 from ${numbers(others)}`);
  await run(`insert into session (token_sha256, account_id, created_at, expires_at)
    select ${dialects[dialect].hash(`'${name}' || n`)}, '${id}', ${at(`${now.getTime()}`)}, ${at(`${now.getTime() + 20 * DAY}`)}
    from ${numbers(others)}`);
  await run(`insert into session (token_sha256, account_id, created_at, expires_at)
    values ('${digest(who.session)}', '${id}', ${at(`${now.getTime()}`)}, ${at(`${now.getTime() + 20 * DAY}`)})`);

  await run(`insert into task (id, account_id, slug, resolution, prompt, image_urls, visibility, metadata, credits, state,
      reserved_at, submitted_at, upstream_task_id, failed_at, failure_reason, succeeded_at, storage_status, temporary_url,
      image_name, native_width, native_height, fence, submissions, api_key_id, deleted_at)
    select ${task}, '${id}', ${pad("n")} || '${name.padEnd(6, "0").slice(0, 6)}', '1k',
      'a lake at sunset, number ' || n || ', with mountains behind it', '[]',
      case when ${isRare} or n % 5 = 0 then 'public' else 'private' end, '{"project":"north"}', 4,
      case when ${isCanceled} then 'failed' else 'succeeded' end, ${reservedAt}, ${reservedAt}, 'local:' || n,
      case when ${isCanceled} then ${endedAt} end, case when ${isCanceled} then 'canceled' end,
      case when ${isCanceled} then null else ${endedAt} end, case when ${isCanceled} then null else 'saved' end,
      case when ${isCanceled} then null else 'https://provider.example/' || n end,
      case when ${isCanceled} then null else 'panoramas/' || ${pad("n", 22)} || '${name}.jpg' end,
      case when ${isCanceled} then null else 1024 end, case when ${isCanceled} then null else 512 end, 2, 0, 'key_z${name}', case when ${isHidden} then ${endedAt} end
    from ${numbers(tasks)}`);
  await run(`insert into ledger_entry (account_id, kind, credits, task_id, at)
    select '${id}', 'reservation', -4, id, reserved_at from task where account_id = '${id}' order by id`);
  await run(`insert into ledger_entry (account_id, kind, credits, task_id, at)
    select '${id}', 'refund', 4, id, failed_at from task where account_id = '${id}' and state = 'failed' order by id`);
  // A deletion takes the pairs and the events of its task.
  await run(`insert into task_metadata (account_id, key, value, task_id)
    select '${id}', 'project', 'north', id from task where account_id = '${id}' and deleted_at is null`);
  await run(`insert into event (account_id, number, type, task_id, at)
    select '${id}', n, 'panorama.' || task.state, id, coalesce(failed_at, succeeded_at)
    from ${numbers(tasks)} join task on task.id = ${task} where deleted_at is null`);
  await run(`insert into webhook_endpoint (id, account_id, url, secret, created_at)
    values ('${who.endpoint}', '${id}', 'https://receiver.example/', 'whsec_x', ${at(`${now.getTime() - 300 * DAY}`)})`);
  await run(`insert into webhook_endpoint (id, account_id, url, secret, created_at, off_at, off_reason)
    select 'whk_' || ${pad("n")} || '${name}', '${id}', 'https://receiver.example/' || n, 'whsec_x',
      ${at(`${now.getTime() - 300 * DAY}`)}, ${at(`${now.getTime() - DAY}`)}, 'deleted' from ${numbers(others)}`);
  await run(`insert into webhook_delivery (endpoint_id, account_id, number, task_id, lane, state, attempts, detail, ended_at, fence)
    select '${who.endpoint}', '${id}', number, task_id, '${who.endpoint}', 'delivered', 1, 'status 200', at, 1
    from event where account_id = '${id}'`);
  await run(`insert into idempotency_key (account_id, key, task_id, request_sha256, created_at)
    select '${id}', 'key ' || n, ${task}, 'x', ${at(`${now.getTime()}`)} from ${numbers(Math.min(tasks, 2_000))}`);
};

/** Other customers: each with an order, a key, a session and some tasks, a fifth of them public. */
export const seedCrowd = async (
  run: Execute,
  dialect: Dialect,
  { accounts, tasksEach }: Crowd,
  now: Date,
): Promise<void> => {
  const { pad, at, numbers, hash } = dialects[dialect];
  const moment = at(`${now.getTime()} - ${DAY} - n * 1000`);
  const account = `'acc_crowd' || ${pad("n")}`;
  await run(`insert into account (id, email, credits, active_tasks, last_event, created_at)
    select ${account}, n || '@crowd.example', ${500 - 4 * tasksEach}, 0, ${tasksEach}, ${moment} from ${numbers(accounts)}`);
  await run(`insert into credit_order (id, account_id, credits, created_at, paid_at)
    select 'ord_crowd' || ${pad("n")}, ${account}, 500, ${moment}, ${moment} from ${numbers(accounts)}`);
  await run(`insert into ledger_entry (account_id, kind, credits, order_id, at)
    select ${account}, 'purchase', 500, 'ord_crowd' || ${pad("n")}, ${moment} from ${numbers(accounts)}`);
  await run(`insert into api_key (id, account_id, name, prefix, secret_sha256, created_at)
    select 'key_crowd' || ${pad("n")}, ${account}, 'program', 'sk-AbCdEfGh', ${hash("'c' || n")}, ${moment} from ${numbers(accounts)}`);
  await run(`insert into session (token_sha256, account_id, created_at, expires_at)
    select ${hash("'c' || n")}, ${account}, ${moment}, ${at(`${now.getTime() + DAY}`)} from ${numbers(accounts)}`);
  const owner = `'acc_crowd' || ${pad(`n % ${accounts} + 1`)}`;
  await run(`insert into task (id, account_id, slug, resolution, prompt, image_urls, visibility, credits, state, reserved_at,
      submitted_at, upstream_task_id, succeeded_at, storage_status, temporary_url, image_name, native_width, native_height,
      fence, submissions, api_key_id)
    select 'pan_' || ${pad("n")} || 'crowd', ${owner}, ${pad("n")} || 'crowd0', '1k', 'a small boat, number ' || n || case when n = 3 then ' beside a walrus' else '' end, '[]',
      case when n % 5 = 3 then 'public' else 'private' end, 4, 'succeeded', ${moment}, ${moment}, 'local:' || n, ${moment},
      'saved', 'https://provider.example/' || n, 'panoramas/' || ${pad("n", 22)} || 'crowd.jpg', 1024, 512, 3, 0,
      'key_crowd' || ${pad(`n % ${accounts} + 1`)}
    from ${numbers(tasksEach * accounts)}`);
  await run(`insert into ledger_entry (account_id, kind, credits, task_id, at)
    select account_id, 'reservation', -4, id, reserved_at from task where account_id like 'acc_crowd%'`);
  await run(`insert into event (account_id, number, type, task_id, at)
    select ${owner}, (n - 1) / ${accounts} + 1, 'panorama.succeeded', 'pan_' || ${pad("n")} || 'crowd', ${moment}
    from ${numbers(tasksEach * accounts)}`);
};

/**
 * Enters all panoramas of the gallery into the index of searches, as
 * adapters/persistence/tasks/search-rows.ts does for each.
 */
export const seedSearch = async (run: Execute, dialect: Dialect): Promise<void> => {
  const words = "upper(replace(prompt, ',', ''))"; // `indexedWords` of the prompts above
  if (dialect === "postgresql") {
    await run(`insert into task_search (task_id, words)
      select id, array_to_tsvector(string_to_array(${words}, ' ')) from task where ${IN_GALLERY}`);
  } else {
    await run(`insert into task_search (number, task_id)
      select row_number() over (order by id) * ${2 ** 24}, id from task where ${IN_GALLERY}`);
    await run(`insert into task_words (rowid, words)
      select number, ${words} from task_search join task on task.id = task_search.task_id`);
  }
  await run(`update task set in_search = true where ${IN_GALLERY}`);
};
