import fc from "fast-check";
import Stripe from "stripe";
import { describe, expect, it } from "vitest";
import { anOrderCheckout, aPendingOrder } from "../../adapters/contracts/support/builders.js";
import { openPostgresDatabase } from "../../adapters/persistence/postgres/open-postgres-database.js";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { verifyLedger } from "../../application/credits/ledger.js";
import { refundOrder } from "../../application/operators/credits.js";
import type { AdjustmentReason } from "../../domain/credits/adjustment.js";
import { credits } from "../../domain/credits/credits.js";
import { sumOf } from "../../domain/credits/ledger.js";
import { orderId, pay } from "../../domain/credits/order.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { type AccountWithKeys, accountsWithKeys } from "../support/accounts-with-keys.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import {
  expectedTakenBack,
  type Happening,
  type MoneyHistory,
  moneyHistory,
  ofRun,
  paymentOf,
} from "../support/money-history.js";
import { freshDatabase } from "../support/postgres.js";
import { Installation } from "../support/service-process.js";
import { type AnyDatabase, sqlStores } from "../support/sql-stores.js";

const RUNS = 2;
const CUSTOMERS = 6;
const KILLS = 2;
/** A key needs a paid order. */
const OPENING_CREDITS = 1;
const SECRET = "whsec_secret";
/** For a smaller example of a failure. The processes are started anew for each. */
const SHRINK_MILLISECONDS = 60_000;
/** Of what a busy machine has refused with 429. It is busy for longer than a few repetitions in a row take. */
const REPETITIONS_MAX = 60;
const REPETITION_MILLISECONDS = 250;
const TASKS_END_MILLISECONDS = 60_000;

const stripe = new Stripe("sk_test_any");

/** One history of several customers on processes of the service that share a database. */
class Run {
  readonly #history: MoneyHistory;
  readonly #processes: readonly Installation[];
  readonly #database: AnyDatabase;
  readonly #accounts: readonly AccountWithKeys[];
  /** What no process has answered yet, as JSON, with its last status. It is repeated in the end. */
  readonly #unanswered: Map<string, number | undefined>;
  readonly #created: string[] = [];
  readonly #takenByHand = new Map<string, number>();

  private constructor(
    history: MoneyHistory,
    processes: readonly Installation[],
    database: AnyDatabase,
    accounts: readonly AccountWithKeys[],
  ) {
    this.#history = history;
    this.#processes = processes;
    this.#database = database;
    this.#accounts = accounts;
    this.#unanswered = new Map(history.happenings.map((happening) => [JSON.stringify(happening), undefined]));
  }

  static async start(history: MoneyHistory, processes: readonly Installation[], database: AnyDatabase): Promise<Run> {
    const accounts = await accountsWithKeys(database, history.customers.length, OPENING_CREDITS);
    const { orders } = sqlStores(database);
    for (const [customer, plan] of history.customers.entries()) {
      const accountId = accounts[customer]?.id ?? expect.fail();
      for (const order of plan.orders) {
        const checkout = anOrderCheckout({ priceCents: order.priceCents });
        const [id, amount] = [orderId(order.name), credits(order.credits)];
        const pending = aPendingOrder({ id, accountId, credits: amount, checkout });
        await orders.insert(pending);
        const paid = pay({ ...pending, paymentId: paymentOf(order) }, new Date())._unsafeUnwrap();
        if (order.paid === "before") await orders.pay(paid);
      }
    }
    return new Run(history, processes, database, accounts);
  }

  /** Some credits are spent before everything else begins, so that they are missing when their payment comes back. */
  async take(): Promise<void> {
    const { happenings, parts } = this.#history;
    const creations = happenings.filter(({ kind }) => kind === "creation");
    await Promise.all(creations.map((creation) => this.#happen(creation)));
    for (const [index, { happenings, killAfterMilliseconds }] of parts.entries()) {
      const load = happenings.map((happening) => this.#happen(happening));
      if (index < parts.length - 1) {
        const killed = this.#processes[index % this.#processes.length] as Installation;
        await new Promise((resolve) => setTimeout(resolve, killAfterMilliseconds));
        expect(await killed.end("SIGKILL")).toBe("SIGKILL");
        await Promise.all([...load, killed.start()]);
      }
      await Promise.all(load);
    }
    for (let repetition = 1; repetition <= REPETITIONS_MAX && this.#unanswered.size > 0; repetition += 1) {
      if (repetition > 1) await new Promise((resolve) => setTimeout(resolve, REPETITION_MILLISECONDS));
      const missing = happenings.filter((happening) => this.#unanswered.has(JSON.stringify(happening)));
      await Promise.all(missing.map((happening) => this.#happen(happening)));
    }
    expect([...this.#unanswered]).toEqual([]);
  }

  #answered(happening: Happening): void {
    this.#unanswered.delete(JSON.stringify(happening));
  }

  async #happen(happening: Happening): Promise<void> {
    switch (happening.kind) {
      case "event":
        return this.#tell(happening);
      case "creation":
        return this.#create(happening);
      case "refund by hand": {
        const ports = { ...sqlStores(this.#database), clock: new SystemClock() };
        const { order, credits: amount } = happening;
        const refunded = await refundOrder(ports)(orderId(order), amount, "by hand" as AdjustmentReason);
        if (refunded.isOk()) this.#takenByHand.set(order, (this.#takenByHand.get(order) ?? 0) + amount);
        this.#answered(happening);
      }
    }
  }

  /** All processes get it at the same time. */
  async #tell(event: Extract<Happening, { kind: "event" }>): Promise<void> {
    const { payload: body } = event;
    const headers = { "stripe-signature": stripe.webhooks.generateTestHeaderString({ payload: body, secret: SECRET }) };
    const requests = this.#processes.map(({ url }) =>
      fetch(`${url}/payments/stripe`, { method: "POST", body, headers }).catch(() => undefined),
    );
    for (const answer of await Promise.all(requests)) {
      expect([undefined, 200, 429, 500, 503]).toContain(answer?.status);
      if (answer?.status === 200) this.#answered(event);
    }
  }

  async #create(creation: Extract<Happening, { kind: "creation" }>): Promise<void> {
    const { customer, name, prompt } = creation;
    const secret = this.#accounts[customer]?.keys[0]?.secret;
    const answer = await fetch(`${this.#processes[name.length % this.#processes.length]?.url}/api/v1/panoramas`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "idempotency-key": name },
      body: JSON.stringify({ prompt, resolution: "1k" }),
    }).catch(() => undefined);
    expect([undefined, 202, 402, 429, 500, 503]).toContain(answer?.status);
    if (answer?.status === 202) this.#created.push(((await answer.json()) as { id: string }).id);
    if (answer?.status === 202 || answer?.status === 402) this.#answered(creation);
    else if (this.#unanswered.has(JSON.stringify(creation)))
      this.#unanswered.set(JSON.stringify(creation), answer?.status);
  }

  /** Compares with what the history says, whatever its order was. */
  async check(): Promise<void> {
    const { ledger, orders } = sqlStores(this.#database);
    const tasks = await this.#endedTasks();
    const known = new Set(tasks.map(({ id }) => id));
    expect(this.#created.filter((id) => !known.has(id))).toEqual([]);
    for (const [customer, plan] of this.#history.customers.entries()) {
      const account = this.#accounts[customer]?.id ?? expect.fail();
      let worth = OPENING_CREDITS;
      for (const order of plan.orders) {
        const stored = (await orders.find(orderId(order.name))) ?? expect.fail();
        const expected =
          order.paid === "never" ? undefined : expectedTakenBack(order, this.#takenByHand.get(order.name) ?? 0);
        expect([order, stored.state === "pending" ? undefined : (stored.takenBack ?? 0)]).toEqual([order, expected]);
        if (expected !== undefined) worth += order.credits - expected;
      }
      const made = tasks.filter(({ account_id, state }) => account_id === account && state === "succeeded");
      worth -= PANORAMA_POLICY.prices["1k"] * made.length;
      const { remaining, debt = 0 } = await ledger.totals(account);
      expect({ customer, remaining, debt }).toEqual({
        customer,
        remaining: Math.max(0, worth),
        debt: Math.max(0, -worth),
      });
      const entries = await ledger.entries(account);
      expect(sumOf(entries)).toBe(remaining);
      expect(sumOf(entries.filter(({ kind }) => kind === "debt"))).toBe(debt);
    }
    expect((await verifyLedger(sqlStores(this.#database))()).findings).toEqual([]);
  }

  async #endedTasks() {
    for (const deadline = Date.now() + TASKS_END_MILLISECONDS; ; ) {
      const tasks = await this.#database.sql("select id, account_id, state from task");
      const others = tasks.filter(({ state }) => state !== "succeeded" && state !== "failed");
      if (others.length === 0) return tasks;
      if (Date.now() > deadline) throw new Error(`still unfinished: ${JSON.stringify(others)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

const holds = async (processes: readonly Installation[], open: () => Promise<AnyDatabase>): Promise<void> => {
  const database = await open();
  try {
    await Promise.all(processes.map((process) => process.start()));
    let runs = 0;
    const property = fc.asyncProperty(moneyHistory(CUSTOMERS, KILLS), async (history) => {
      runs += 1;
      const run = await Run.start(ofRun(history, runs), processes, database);
      await run.take();
      await run.check();
    });
    await fc.assert(property, { numRuns: RUNS, interruptAfterTimeLimit: SHRINK_MILLISECONDS });
  } finally {
    await Promise.all(processes.map((process) => process.remove()));
    await database.close();
  }
};

const ENVIRONMENT = {
  DEMO: "false",
  SUBMIT_TIMEOUT_MS: "500",
  LEASE_MS: "1000",
  LOCAL_PROVIDER_DELAY_MS: "0",
  STRIPE_SECRET_KEY: "sk_test_any",
  STRIPE_WEBHOOK_SECRET: SECRET,
};

describe("payments that come back while the service is killed with SIGKILL", () => {
  it.concurrent("end in an exact ledger on SQLite", async () => {
    const process = await migratedInstallation(ENVIRONMENT);
    await holds([process], () => openSqliteDatabase(`${process.dataDir}/panorama.sqlite`));
  });

  it.concurrent("end in an exact ledger on PostgreSQL, when two processes get the same event at the same time", async () => {
    const url = await freshDatabase();
    const first = await migratedInstallation({ ...ENVIRONMENT, DATABASE_URL: url });
    const { DATA_DIR = "" } = first.environment;
    const second = await Installation.create({ ...ENVIRONMENT, DATABASE_URL: url, DATA_DIR });
    await holds([first, second], () => openPostgresDatabase(url, 4));
  });
});
