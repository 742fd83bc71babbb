import { randomUUID } from "node:crypto";
import { err, ok } from "neverthrow";
import {
  accountId,
  aNativeSize,
  anAccount,
  anApiKey,
  anImageName,
  anOrderCheckout,
  aPendingOrder,
  apiKeyId,
  aSubmittingTask,
  openATask,
} from "../../adapters/contracts/support/builders.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { closeAccount } from "../../application/close-account.js";
import { ledger } from "../../application/credits/ledger.js";
import { operatedCredits } from "../../application/operators/credits.js";
import { StoreBusy } from "../../application/ports/stores/store-errors.js";
import type { Email } from "../../domain/accounts/account.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import type { AdjustmentReason } from "../../domain/credits/adjustment.js";
import { credits } from "../../domain/credits/credits.js";
import { adjust } from "../../domain/credits/funds.js";
import { type OrderId, pay } from "../../domain/credits/order.js";
import type { PaymentReturn } from "../../domain/credits/payment-return.js";
import type { TaskId } from "../../domain/ids.js";
import { type ActiveTask, fail, finish, isActive, submit, succeed, type Task } from "../../domain/tasks/task.js";
import { type AnyDatabase, sqlStores } from "./sql-stores.js";

const ACCOUNTS = 6;
const PRICE_CENTS = 900;
const BUDGET = 1_000_000;
const REASON = "stress" as AdjustmentReason;
const clock = new SystemClock();

/** Open accounts, each with credits and a key that has a budget. */
export const openStressedAccounts = async (database: AnyDatabase): Promise<void> => {
  const { accounts, operators } = sqlStores(database);
  const limits = { ...NO_LIMITS, creditsPerDay: credits(BUDGET) };
  for (let n = 1; n <= ACCOUNTS; n += 1) {
    const [id, email] = [accountId(n), `stress${n}@example.com` as Email];
    await accounts.open(anAccount({ id, email }), { key: anApiKey({ id: apiKeyId(n), accountId: id, limits }) });
    const given = { accountId: id, change: 10_000, reason: REASON, at: clock.now() };
    (await operators.adjust(id, (funds) => adjust({ ...given, funds })))._unsafeUnwrap();
  }
};

/** What customers, workers, the payment service and the operator do to an account. Refusals count as done. */
const operationsOn = (database: AnyDatabase) => {
  const stores = sqlStores(database);
  const { tasks, orders, operators, accounts } = stores;
  const idOf = async (select: string, n: number): Promise<string | undefined> => {
    const rows = await database.sql(`select id from ${select} limit 4`, [accountId(n)]);
    return rows[Math.floor(Math.random() * rows.length)]?.id as string | undefined;
  };
  const activeTask = async (n: number): Promise<ActiveTask | undefined> => {
    const id = await idOf("task where account_id = ? and state not in ('succeeded', 'failed') order by id", n);
    const task = id && (await operators.task(id as TaskId))?.task;
    return task && isActive(task) ? task : undefined;
  };
  const next = (task: Task): Task | undefined => {
    if (task.state === "submitting") return submit(task, `upstream-${task.id}`, clock.now());
    if (task.state === "submitted") return finish(task, "https://provider.example/1.jpg");
    return task.state === "generated" ? succeed(task, anImageName(1), aNativeSize, clock.now()) : undefined;
  };
  const orderOf = async (n: number, isPaid: boolean) =>
    (await idOf(`credit_order where account_id = ? and paid_at is ${isPaid ? "not" : ""} null order by id desc`, n)) as
      | OrderId
      | undefined;
  const returned = async (n: number, what: (id: OrderId) => PaymentReturn) => {
    const id = await orderOf(n, true);
    if (id !== undefined) await orders.recordReturn(`pi_${id}`, what(id), clock.now());
  };
  const disputed = (n: number, state: "open" | "won", cents: number, transfers: number) => {
    const [stateAt, withdrawn] = [clock.now(), { cents, at: clock.now(), transfers }];
    return returned(n, (id) => ({ id: `dp_${id}`, kind: "dispute", state, stateAt, withdrawn }));
  };
  const change = (n: number, by: number) => {
    const given = { accountId: accountId(n), change: by, reason: REASON, at: clock.now() };
    return operators.adjust(accountId(n), (funds) => adjust({ ...given, funds }));
  };

  return {
    create: async (n: number) => {
      const key = (await operators.key(apiKeyId(n)))?.id;
      const now = clock.now();
      const draft = { id: randomUUID() as TaskId, accountId: accountId(n), reservedAt: now, apiKeyId: key };
      const spender = key && { apiKeyId: key, now };
      const decide = (standing: Parameters<typeof openATask>[0]) => openATask(standing, aSubmittingTask(draft), now);
      await tasks.open({ account: accountId(n), dueAt: now, spender, decide });
    },
    advance: async (n: number) => {
      const task = await activeTask(n);
      const moved = task && next(task);
      if (task !== undefined && moved !== undefined) await tasks.move(task, moved, clock.now());
    },
    fail: async (n: number) => {
      const task = await activeTask(n);
      if (task !== undefined) await tasks.move(task, fail(task, "generation_failed", clock.now()), undefined);
    },
    give: (n: number) => change(n, 5),
    take: (n: number) => change(n, -7),
    order: (n: number) => {
      const order = aPendingOrder({ id: randomUUID() as OrderId, accountId: accountId(n), createdAt: clock.now() });
      return orders.place(order, new Date(0), (pending) => (pending < 9 ? ok(undefined) : err("too many")));
    },
    checkout: async (n: number) => {
      const id = await orderOf(n, false);
      if (id !== undefined) await orders.recordCheckout(id, anOrderCheckout({ priceCents: PRICE_CENTS }));
    },
    cancel: async (n: number) => {
      const id = await orderOf(n, false);
      if (id !== undefined) await orders.cancel(id, accountId(n));
    },
    pay: async (n: number) => {
      const id = await orderOf(n, false);
      const order = id && (await orders.find(id));
      const result = order && pay(order, clock.now());
      if (result?.isOk()) await orders.pay({ ...result.value, paymentId: `pi_${id}` });
    },
    refund: (n: number) => returned(n, (id) => ({ id: `re_${id}`, kind: "refund", cents: 100, at: clock.now() })),
    dispute: (n: number) => disputed(n, "open", PRICE_CENTS, 1),
    win: (n: number) => disputed(n, "won", 0, 2),
    returnByHand: async (n: number) => {
      const id = await orderOf(n, true);
      if (id !== undefined) await operatedCredits({ accounts, orders, operators, clock }).refundOrder(id, 3, REASON);
    },
    limit: (n: number) =>
      operators.setKeyLimits(apiKeyId(n), (limits) =>
        ok({ ...limits, creditsPerDay: credits((limits.creditsPerDay ?? 0) + 1) }),
      ),
    // The last accounts are closed at some time; a repeated close books what they have received since.
    close: async (n: number) => {
      if (n > ACCOUNTS / 2) await closeAccount({ accounts, operators, clock }, accountId(n));
    },
  };
};

/** False if the store was busy for too long: then it has written nothing. */
const isDone = async (operation: Promise<unknown>): Promise<boolean> => {
  try {
    await operation;
    return true;
  } catch (error) {
    if (error instanceof StoreBusy) return false;
    throw error;
  }
};

/** Runs every pair of operations on the same account at once, in a random order, until the time is over. */
export const stress = async (database: AnyDatabase, lanes: number, milliseconds: number) => {
  const operations = Object.entries(operationsOn(database));
  const pairs = operations.flatMap((one, index) => operations.slice(index).map((other) => [one, other] as const));
  pairs.sort(() => Math.random() - 0.5);
  const end = performance.now() + milliseconds;
  const met = new Set<string>();
  let raisedLimits = 0; // of accounts that stay open
  let turn = 0;
  const lane = async () => {
    while (performance.now() < end) {
      const pair = pairs[turn % pairs.length] ?? [];
      const n = 1 + Math.floor(Math.random() * ACCOUNTS);
      turn += 1;
      const done = await Promise.all(pair.map(([, run]) => isDone(run(n))));
      raisedLimits += n > ACCOUNTS / 2 ? 0 : pair.filter(([name], index) => name === "limit" && done[index]).length;
      met.add(pair.map(([name]) => name).join("+"));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { met: [...met], pairs: pairs.length, raisedLimits };
};

export type Stress = Awaited<ReturnType<typeof stress>>;

/** Each row is something that is not exact, by the name of what was counted. */
const INEXACT = {
  grants: `select order_id from ledger_entry where kind = 'purchase' group by order_id having count(*) > 1
    union all select id from credit_order where (paid_at is not null) <>
      exists (select 1 from ledger_entry where kind = 'purchase' and order_id = credit_order.id)`,
  disputes: `select id from account where open_disputes <>
    (select count(*) from credit_order where account_id = account.id and dispute = 'open')`,
  spending: `select id from api_key where
    (select coalesce(sum(credits), 0) from key_spending where api_key_id = api_key.id) <>
    (select coalesce(sum(credits), 0) from task where api_key_id = api_key.id and state <> 'failed')`,
  events: `select account.id from account left join event on event.account_id = account.id where closed_at is null
    group by account.id, last_event having count(number) <> last_event or coalesce(max(number), 0) <> last_event`,
};

/** What is not exact after a stress, one sentence each. */
export const stressFindings = async (database: AnyDatabase, runs: readonly Stress[]): Promise<string[]> => {
  const { findings } = await ledger(sqlStores(database)).verifyLedger();
  const found = [...findings];
  const met = new Set(runs.flatMap((run) => run.met)).size;
  if (met !== runs[0]?.pairs) found.push(`only ${met} of ${runs[0]?.pairs} pairs were run`);
  const [key] = await database.sql("select sum(credits_per_day) as limits from api_key where account_id <= ?", [
    accountId(ACCOUNTS / 2),
  ]);
  const limits = runs.reduce((sum, { raisedLimits }) => sum + raisedLimits, BUDGET * (ACCOUNTS / 2));
  if (Number(key?.limits) !== limits) found.push(`the limits of keys are ${key?.limits}, not ${limits}`);
  for (const [what, select] of Object.entries(INEXACT)) {
    for (const row of await database.sql(select)) found.push(`${what}: ${String(Object.values(row)[0])}`);
  }
  return found;
};
