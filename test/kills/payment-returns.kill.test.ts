import { randomUUID } from "node:crypto";
import Stripe from "stripe";
import { describe, expect, it } from "vitest";
import { anOrderCheckout, aPendingOrder, orderId } from "../../adapters/contracts/support/builders.js";
import { openPostgresDatabase } from "../../adapters/persistence/postgres/open-postgres-database.js";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import type { AccountId } from "../../domain/account-id.js";
import { credits } from "../../domain/credits/credits.js";
import { checkoutWebhook, returnWebhook } from "../support/fake-stripe.js";
import { PostgresServer } from "../support/postgres.js";
import { Installation } from "../support/service-process.js";
import { type AnyDatabase, sqlStores } from "../support/sql-stores.js";

const ROUNDS = 3;
const ORDERS = 12;
const SECRET = "whsec_secret";
const PRICE_CENTS = 900;
const BOUGHT = 100;
const CREATED = Math.floor(Date.now() / 1000) - 1000;

type Ending = { readonly events: readonly string[]; readonly takenBack: number };

/** All that happens to order `n` outside, and the credits that must be back in the end. */
const endingOf = (n: number): Ending => {
  const [payment, id] = [`pi_${n}`, orderId(n)];
  const session = { metadata: { panorama_order_token: "token-1" }, payment_intent: payment };
  const paid = checkoutWebhook(id, { session });
  const event = (type: string, object: object, after: number) =>
    returnWebhook(type, { payment_intent: payment, created: CREATED, ...object }, CREATED + after);
  const third = { id: `re_${n}`, amount: PRICE_CENTS / 3, status: "pending" };
  const half = { id: `re_${n}_half`, amount: PRICE_CENTS / 2, status: "succeeded" };
  const dispute = { id: `dp_${n}`, amount: PRICE_CENTS, status: "needs_response" };
  const refunded = [event("refund.created", third, 0), event("refund.updated", { ...third, status: "succeeded" }, 9)];
  const failed = event("refund.failed", { ...third, status: "failed" }, 20);
  const disputed = [event("charge.dispute.created", dispute, 1), event("charge.dispute.funds_withdrawn", dispute, 1)];
  const won = event("charge.dispute.closed", { ...dispute, status: "won" }, 30);
  const lost = event("charge.dispute.closed", { ...dispute, status: "lost" }, 30);
  const endings: readonly Ending[] = [
    { events: [paid, ...refunded], takenBack: 33 },
    { events: [paid, ...refunded, failed], takenBack: 0 },
    { events: [paid, ...refunded, event("refund.created", half, 3)], takenBack: 83 },
    { events: [paid, ...disputed, won], takenBack: 0 },
    { events: [paid, ...disputed, lost, ...refunded], takenBack: 100 },
    { events: [paid, event("charge.refunded", { id: `ch_${n}`, amount_refunded: 450 }, 5)], takenBack: 50 },
  ];
  return endings[n % endings.length] as Ending;
};

const shuffled = <T>(values: readonly T[]): T[] =>
  values
    .map((value) => [Math.random(), value] as const)
    .sort(([one], [other]) => one - other)
    .map(([, value]) => value);

/** The customer creates while Stripe reports, three times each and in any order; the service is killed meanwhile. */
const run = async (installation: Installation, open: () => Promise<AnyDatabase>): Promise<void> => {
  await installation.command("migrate");
  const made = await installation.command(
    "account",
    "create",
    "--email",
    "ann@example.com",
    "--credits",
    "40",
    "--key",
  );
  const account = made.json.account_id as AccountId;
  const prepared = await open();
  for (let n = 1; n <= ORDERS; n += 1) {
    const order = { id: orderId(n), accountId: account, credits: credits(BOUGHT), checkout: anOrderCheckout() };
    await sqlStores(prepared).orders.insert(aPendingOrder(order));
  }
  await prepared.close();

  const endings = Array.from({ length: ORDERS }, (_, index) => endingOf(index + 1));
  const stripe = new Stripe("sk_test_any");
  const unanswered = new Set(endings.flatMap(({ events }) => events));
  const send = async (payload: string): Promise<void> => {
    const signature = stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET });
    const request = { method: "POST", body: payload, headers: { "stripe-signature": signature } };
    const answer = await fetch(`${installation.url}/payments/stripe`, request).catch(() => undefined);
    if (answer?.status === 200) unanswered.delete(payload);
  };
  const create = async (prompt: string): Promise<void> => {
    const headers = { authorization: `Bearer ${String(made.json.api_key)}`, "idempotency-key": randomUUID() };
    const body = JSON.stringify({ prompt, resolution: "4k" });
    const answer = await fetch(`${installation.url}/api/v1/panoramas`, { method: "POST", body, headers }).catch(
      () => undefined,
    );
    expect([undefined, 202, 402, 429]).toContain(answer?.status);
  };

  const deliveries = shuffled([...unanswered, ...unanswered, ...unanswered]);
  for (let round = 0; round < ROUNDS; round += 1) {
    await installation.start();
    const part = deliveries.slice((round * deliveries.length) / ROUNDS, ((round + 1) * deliveries.length) / ROUNDS);
    const load = [...part.map(send), ...["a lake", "a lake test:fail", "a wood test:fail"].map(create)];
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
    expect(await installation.end("SIGKILL")).toBe("SIGKILL");
    await Promise.all(load);
  }
  await installation.start();
  await Promise.all([...unanswered].map(send)); // what was not answered is sent again
  expect(unanswered.size).toBe(0);
  await expectExact(installation, endings);
};

const expectExact = async (installation: Installation, endings: readonly Ending[]): Promise<void> => {
  const ended = async () => {
    const { json } = await installation.command("task", "list", "--account", await accountOf(installation));
    return json.tasks as readonly { state: string; credits: number }[];
  };
  let tasks = await ended();
  for (const deadline = Date.now() + 60_000; tasks.some(({ state }) => !["succeeded", "failed"].includes(state)); ) {
    if (Date.now() > deadline) throw new Error(`still unfinished: ${JSON.stringify(tasks)}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    tasks = await ended();
  }
  const orders = await installation.command("order", "list", "--from", "2020-01-01");
  const takenBack = (orders.json.orders as { order_id: string; credits_taken_back: number }[])
    .filter(({ order_id }) => endings.some((_, index) => orderId(index + 1) === order_id))
    .toReversed()
    .map(({ credits_taken_back }) => credits_taken_back);
  expect(takenBack).toEqual(endings.map((ending) => ending.takenBack));
  const ledger = await installation.command(
    "ledger",
    "show",
    "--account",
    await accountOf(installation),
    "--limit",
    "1000",
  );
  const entries = ledger.json.entries as { kind: string; credits: number }[];
  const sum = (kinds: readonly string[]) =>
    entries.filter(({ kind }) => kinds.includes(kind)).reduce((total, { credits }) => total + credits, 0);
  const back = takenBack.reduce((total, taken) => total + taken, 0);
  expect(sum(["purchase"])).toBe(40 + ORDERS * BOUGHT);
  expect(sum(["payment_refund", "payment_restored"])).toBe(-back);
  const made = tasks.filter(({ state }) => state === "succeeded").length;
  expect(sum(["reservation", "refund"]) + 10 * made).toBe(0);
  const { remaining_credits } = ledger.json as { remaining_credits: number };
  expect(entries.reduce((total, { credits }) => total + credits, 0)).toBe(remaining_credits);
  expect((await installation.command("ledger", "verify")).json).toEqual({ accounts: 1, findings: [] });
};

const accountOf = async (installation: Installation): Promise<string> => {
  const { json } = await installation.command("account", "list");
  return (json.accounts as { account_id: string }[])[0]?.account_id ?? "";
};

const ENVIRONMENT = {
  DEMO: "false",
  SUBMIT_TIMEOUT_MS: "500",
  LEASE_MS: "2000",
  LOCAL_PROVIDER_DELAY_MS: "100",
  STRIPE_SECRET_KEY: "sk_test_any",
  STRIPE_WEBHOOK_SECRET: SECRET,
};

describe("payments that come back while the service is killed with SIGKILL", () => {
  it("end in an exact ledger on SQLite", async () => {
    const installation = await Installation.create(ENVIRONMENT);
    try {
      await run(installation, () => openSqliteDatabase(`${installation.dataDir}/panorama.sqlite`));
    } finally {
      await installation.remove();
    }
  });

  it("end in an exact ledger on PostgreSQL", async () => {
    const server = await PostgresServer.start();
    const installation = await Installation.create({ ...ENVIRONMENT, DATABASE_URL: server.url });
    try {
      await run(installation, () => openPostgresDatabase(server.url, 2));
    } finally {
      await installation.remove();
      await server.remove();
    }
  });
});
