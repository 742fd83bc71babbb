import { join } from "node:path";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { openAccount } from "../../application/accounts/open-account.js";
import { verifyLedger } from "../../application/credits/ledger.js";
import { createOrder } from "../../application/credits/orders.js";
import type { Email } from "../../domain/accounts/account.js";
import { credits } from "../../domain/credits/credits.js";
import { FakeReplicate, REPLICATE_KEY } from "../support/fake-replicate.js";
import { Installation } from "../support/service-process.js";
import { sqlStores } from "../support/sql-stores.js";
import { seamless } from "../support/test-images.js";
import type { Target } from "./operation-requests.js";
import type { WebhookSenders } from "./webhook-requests.js";

const PUBLIC_URL = "https://panoramas.example";
const STRIPE_SECRET = "whsec_fuzz";
const ORDERS = 50;

/** The built service on SQLite, with a fake of Replicate, Stripe's webhooks, and accounts with credits. */
export class FuzzedService {
  readonly installation: Installation;
  readonly fake: FakeReplicate;
  readonly target: Target;
  readonly senders: WebhookSenders;
  /** The newest task of each key. */
  readonly tasks = new Map<string, string>();

  private constructor(
    installation: Installation,
    fake: FakeReplicate,
    keys: readonly string[],
    orders: readonly string[],
  ) {
    this.installation = installation;
    this.fake = fake;
    const keyOf = (n: number): string => keys[n % keys.length] ?? "";
    this.target = { keyOf, taskOf: (n) => this.tasks.get(keyOf(n)) };
    this.senders = {
      replicateSecret: fake.webhookSecret,
      stripeSecret: STRIPE_SECRET,
      orderOf: (n) => orders[n % orders.length] ?? "",
      hookOf: (n) => {
        const task = fake.tasks[n % Math.max(1, fake.tasks.length)];
        if (task?.webhook === undefined) return undefined;
        const { pathname, search } = new URL(task.webhook);
        return { path: pathname + search, prediction: JSON.parse(fake.webhook(task, new Date()).body) };
      },
    };
  }

  static async start(accounts: number): Promise<FuzzedService> {
    const fake = await FakeReplicate.start();
    fake.picture = await seamless({ widthPixels: 256, heightPixels: 128 }).jpeg().toBuffer();
    const installation = await Installation.create({
      PUBLIC_URL,
      DEMO: "false",
      PROVIDER: "replicate",
      REPLICATE_API_KEY: REPLICATE_KEY,
      REPLICATE_BASE_URL: fake.baseUrl,
      PROVIDER_CALLS_PER_SECOND: "100000",
      PROVIDER_POLL_MS: "100",
      STRIPE_SECRET_KEY: "sk_test_fuzz",
      STRIPE_WEBHOOK_SECRET: STRIPE_SECRET,
    });
    const { keys, orders } = await filled(installation, accounts);
    await installation.start();
    return new FuzzedService(installation, fake, keys, orders);
  }

  get port(): number {
    return Number(new URL(this.installation.url).port);
  }

  /** Ends the service, and resolves to what is wrong: how it ended, what it has logged, and its ledger. */
  async end(): Promise<string[]> {
    const wrong: string[] = [];
    const ended = await this.installation.end("SIGTERM");
    if (ended !== 0) wrong.push(`the service ended with ${ended}: ${this.installation.log.slice(-1_000)}`);
    const errors = this.installation.log.split("\n").filter((line) => /^\{"level":"(error|fatal)"/.test(line));
    wrong.push(...errors.slice(0, 5).map((line) => `logged: ${line.slice(0, 1_000)}`));
    const database = await openSqliteDatabase(join(this.installation.dataDir, "panorama.sqlite"));
    const { findings } = await verifyLedger(sqlStores(database))();
    await database.close();
    wrong.push(...findings.map((finding) => `ledger: ${finding}`));
    return wrong;
  }

  async remove(): Promise<void> {
    await this.installation.remove();
    await this.fake.close();
  }
}

/** Accounts with one key and 1,000 paid credits each, and pending orders. */
const filled = async ({ dataDir }: Installation, accounts: number) => {
  const database = await openSqliteDatabase(join(dataDir, "panorama.sqlite"));
  const ports = { ...sqlStores(database), clock: new SystemClock(), ids: new RandomIds(), secrets: new NodeSecrets() };
  const opened = await Promise.all(
    Array.from({ length: accounts }, async (_, n) => {
      const email = `customer-${n}@example.com` as Email;
      return (await openAccount(ports)({ email, credits: credits(1_000), keyName: "fuzz" }))._unsafeUnwrap();
    }),
  );
  const owners = opened.map(({ account }) => account.id);
  const orders = await Promise.all(
    Array.from({ length: ORDERS }, async (_, n) =>
      (await createOrder(ports)(owners[n % owners.length] as (typeof owners)[number], credits(100)))._unsafeUnwrap(),
    ),
  );
  await database.close();
  return { keys: opened.map(({ secret }) => secret ?? ""), orders: orders.map(({ id }) => id) };
};
