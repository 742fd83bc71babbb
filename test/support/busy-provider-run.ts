import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { openSqliteDatabase } from "../../adapters/persistence/open-sqlite-database.js";
import { SqlAccountStore } from "../../adapters/persistence/sql-account-store.js";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { openAccount } from "../../application/accounts/open-account.js";
import type { Email } from "../../domain/account.js";
import { credits } from "../../domain/credits.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { RESOLUTIONS } from "../../domain/resolution.js";
import { sendWebhook, type UpstreamTask } from "./fake-provider.js";
import { FakeSkybox, SKYBOX_KEY } from "./fake-skybox.js";
import { RestClient, type Task } from "./rest-client.js";
import { Installation } from "./service-process.js";
import { seamless } from "./test-images.js";

export type BusyProviderRun = {
  readonly accounts: number;
  /** The limit of the provider, and our setting. */
  readonly callsPerSecond: number;
  readonly generationMilliseconds: number;
  /** The service is killed and started again when the provider has started so many generations. */
  readonly killedAfter: readonly number[];
  readonly timeoutSeconds: number;
  /** Further settings of the service. */
  readonly settings?: Readonly<Record<string, string>>;
};

export type BusyProviderFigures = {
  /** How many creations had each status. */
  readonly answers: Readonly<Record<number, number>>;
  /** How many tasks ended with each status and storage status. */
  readonly ends: Readonly<Record<string, number>>;
  /** Prompts for which the provider started more than one generation. */
  readonly startedTwice: readonly string[];
  readonly generations: number;
  readonly kills: number;
  readonly creditsLeft: number;
  readonly ledger: unknown;
  /** From the first creation until the last picture is saved. */
  readonly seconds: number;
  readonly calls: number;
  readonly refusedCalls: number;
};

const READ_MILLISECONDS = 1_500;
const price = PANORAMA_POLICY.prices["1k"];

/**
 * Every account creates as many tasks as it may have, all at once, with a provider that allows few calls per second and
 * answers every third creation with 429. Generations end by themselves, and then the provider sends its webhook once.
 */
export const runBusyProvider = async (run: BusyProviderRun): Promise<BusyProviderFigures> => {
  const { accounts, callsPerSecond, generationMilliseconds, killedAfter, timeoutSeconds } = run;
  const fake = await FakeSkybox.start();
  fake.picture = await seamless(RESOLUTIONS["1k"]).jpeg().toBuffer();
  fake.plan = "run";
  Object.assign(fake.limits, { callsPerSecond, everyThirdCreation: true, retryAfterSeconds: 1 });
  const installation = await Installation.create({
    DEMO: "false",
    PROVIDER: "skybox",
    SKYBOX_API_KEY: SKYBOX_KEY,
    SKYBOX_BASE_URL: fake.baseUrl,
    PROVIDER_CALLS_PER_SECOND: String(callsPerSecond),
    PROVIDER_MAX_CONCURRENT: "1000",
    PUBLIC_URL: "https://panoramas.example",
    ...run.settings,
  });

  const ended = new Set<UpstreamTask>();
  const endGenerations = () => {
    const now = Date.now();
    for (const task of fake.tasks) {
      if (ended.has(task) || now - (task.createdAt?.getTime() ?? now) < generationMilliseconds) continue;
      ended.add(task);
      task.state = "succeed";
      // The service may be down just now; the real one does not repeat its webhooks for long either.
      sendWebhook(fake.webhook(task), installation.url).catch(() => {});
    }
  };
  const ending = setInterval(endGenerations, 50);

  try {
    const keys = await openAccounts(installation, accounts);
    await installation.start();
    const clients = keys.map((key) => new RestClient(installation.url, key));
    const start = performance.now();
    const deadline = start + timeoutSeconds * 1_000;
    const statuses = await Promise.all(
      clients.flatMap((client, account) =>
        Array.from({ length: PANORAMA_POLICY.activeMax }, async (_, n) => {
          const body = JSON.stringify({ prompt: `a lake, number ${account}-${n}`, resolution: "1k" });
          const response = await client.request("/panoramas", { method: "POST", body });
          await response.text();
          return response.status;
        }),
      ),
    );

    let kills = 0;
    for (const generations of killedAfter) {
      while (fake.tasks.length < generations && performance.now() < deadline) await setTimeout(10);
      await installation.end("SIGKILL");
      kills += 1;
      await installation.start();
    }

    let tasks: Task[] = [];
    do {
      await setTimeout(READ_MILLISECONDS);
      tasks = (await Promise.all(clients.map(tasksOf))).flat();
    } while (tasks.some(isInProgress) && performance.now() < deadline);
    const seconds = (performance.now() - start) / 1_000;

    const balances = await Promise.all(clients.map((client) => client.credits()));
    const calls = fake.server.requests.filter(({ path }) => path.startsWith("/api/"));
    return {
      answers: countsOf(statuses),
      ends: countsOf(tasks.map(({ status, output }) => `${status}, ${output?.storage_status ?? "nothing stored"}`)),
      startedTwice: repeated(fake.tasks.map(({ input }) => String(input.prompt))),
      generations: fake.tasks.length,
      kills,
      creditsLeft: balances.reduce((sum, balance) => sum + balance, 0),
      ledger: (await installation.command("ledger", "verify")).json,
      seconds,
      calls: calls.length,
      refusedCalls: fake.refusedCalls,
    };
  } finally {
    clearInterval(ending);
    await installation.remove();
    await fake.close();
  }
};

/** With credits for exactly the tasks of the run. Without passwords, because hashing them takes longest. */
const openAccounts = async ({ dataDir }: Installation, count: number): Promise<string[]> => {
  const database = await openSqliteDatabase(join(dataDir, "panorama.sqlite"));
  const accounts = new SqlAccountStore(database);
  const open = openAccount({ accounts, clock: new SystemClock(), ids: new RandomIds(), secrets: new NodeSecrets() });
  const keys: string[] = [];
  for (let n = 1; n <= count; n += 1) {
    const email = `customer-${n}@example.com` as Email;
    const opened = await open({ email, credits: credits(PANORAMA_POLICY.activeMax * price), keyName: "default" });
    keys.push(opened._unsafeUnwrap().secret ?? "");
  }
  await database.close();
  return keys;
};

const tasksOf = async (client: RestClient): Promise<Task[]> => {
  const response = await client.request("/panoramas?limit=100");
  return response.ok ? ((await response.json()) as { data: Task[] }).data : [];
};

const isInProgress = ({ status, output }: Task): boolean =>
  status === "processing" || output?.storage_status === "uploading";

const countsOf = (values: readonly (string | number)[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};

const repeated = (values: readonly string[]): string[] => values.filter((value, n) => values.indexOf(value) !== n);
