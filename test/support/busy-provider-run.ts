import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { SqlAccountStore } from "../../adapters/persistence/stores/accounts/sql-account-store.js";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { openAccount } from "../../application/accounts/open-account.js";
import type { Email } from "../../domain/accounts/account.js";
import { credits } from "../../domain/credits/credits.js";
import { RESOLUTIONS } from "../../domain/images/resolution.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { endGenerations } from "./end-generations.js";
import { COMFY_KEY, FakeComfy } from "./fake-comfy.js";
import { FAL_KEY, FakeFal } from "./fake-fal.js";
import type { FakeProvider } from "./fake-provider.js";
import { FakeReplicate, REPLICATE_KEY } from "./fake-replicate.js";
import { FakeSkybox, SKYBOX_KEY } from "./fake-skybox.js";
import { FakeWorldlabs, WORLDLABS_KEY } from "./fake-worldlabs.js";
import { RestClient, type Task } from "./rest-client.js";
import { Installation } from "./service-process.js";
import { seamless } from "./test-images.js";

type Started = {
  readonly fake: FakeProvider;
  /** The settings of the service that lead to the fake. */
  readonly settings: Readonly<Record<string, string>>;
  readonly hasWebhooks: boolean;
};

/** The providers with which a run can be made, each with its default model. */
const PROVIDERS = {
  skybox: async (): Promise<Started> => {
    const fake = await FakeSkybox.start();
    const settings = { SKYBOX_API_KEY: SKYBOX_KEY, SKYBOX_BASE_URL: fake.baseUrl };
    return { fake, settings, hasWebhooks: true };
  },
  replicate: async (): Promise<Started> => {
    const fake = await FakeReplicate.start();
    const settings = { REPLICATE_API_KEY: REPLICATE_KEY, REPLICATE_BASE_URL: fake.baseUrl };
    return { fake, settings, hasWebhooks: true };
  },
  fal: async (): Promise<Started> => {
    const fake = await FakeFal.start();
    const urls = { FAL_BASE_URL: fake.baseUrl, FAL_PLATFORM_URL: fake.platformUrl, FAL_JWKS_URL: fake.jwksUrl };
    return { fake, settings: { FAL_API_KEY: FAL_KEY, ...urls }, hasWebhooks: true };
  },
  comfy: async (): Promise<Started> => {
    const fake = await FakeComfy.start();
    return { fake, settings: { COMFY_API_KEY: COMFY_KEY, COMFY_BASE_URL: fake.baseUrl }, hasWebhooks: false };
  },
  worldlabs: async (): Promise<Started> => {
    const fake = await FakeWorldlabs.start();
    const settings = { WORLDLABS_API_KEY: WORLDLABS_KEY, WORLDLABS_BASE_URL: fake.baseUrl };
    return { fake, settings, hasWebhooks: false };
  },
};

export type BusyProvider = keyof typeof PROVIDERS;
export const BUSY_PROVIDERS = Object.keys(PROVIDERS) as BusyProvider[];

export type BusyProviderRun = {
  readonly provider: BusyProvider;
  readonly accounts: number;
  /** The limit of the provider, and our setting. */
  readonly callsPerSecond: number;
  readonly generationMilliseconds: number;
  /** The service is killed and started again when the provider has started this many generations. */
  readonly killedAfter: readonly number[];
  readonly timeoutSeconds: number;
  /** How long the provider takes for each answer. The longer, the more submissions are in flight at a kill. */
  readonly latencyMilliseconds?: number;
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
  /** Calls of the provider and downloads of results. */
  readonly requests: number;
  readonly refusedCalls: number;
};

const READ_MILLISECONDS = 1_500;
const price = PANORAMA_POLICY.prices["1k"];

/**
 * Every account creates as many tasks as it may have, all at once, with a provider that allows few calls per second and
 * answers every third creation with 429. Generations end by themselves, and then the provider sends its webhook once.
 */
export const runBusyProvider = async (run: BusyProviderRun): Promise<BusyProviderFigures> => {
  const { provider, accounts, callsPerSecond, generationMilliseconds, killedAfter, timeoutSeconds } = run;
  const { fake, settings, hasWebhooks } = await PROVIDERS[provider]();
  fake.picture = await seamless(RESOLUTIONS["1k"]).jpeg().toBuffer();
  fake.server.latencyMilliseconds = run.latencyMilliseconds ?? 0;
  fake.plan = "run";
  Object.assign(fake.limits, { callsPerSecond, everyThirdCreation: true, retryAfterSeconds: 1 });
  const installation = await Installation.create({
    DEMO: "false",
    PROVIDER: provider,
    ...settings,
    PROVIDER_CALLS_PER_SECOND: String(callsPerSecond),
    PROVIDER_MAX_CONCURRENT: "1000",
    PUBLIC_URL: "https://panoramas.example",
    ...run.settings,
  });

  const stopEnding = endGenerations(fake, generationMilliseconds, {
    origin: () => (hasWebhooks ? installation.url : undefined),
  });

  try {
    const keys = await openAccounts(installation, accounts);
    await installation.start();
    const clients = keys.map((key) => new RestClient(installation.url, key));
    const start = performance.now();
    const deadline = start + timeoutSeconds * 1_000;
    /** Fewer generations start if a kill loses submissions, because their tasks are refunded. */
    const killDeadline = start + timeoutSeconds * 500;
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
      while (fake.tasks.length < generations && performance.now() < killDeadline) await setTimeout(10);
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
    return {
      answers: countsOf(statuses),
      ends: countsOf(tasks.map(({ status, output }) => `${status}, ${output?.storage_status ?? "nothing stored"}`)),
      startedTwice: repeated(fake.tasks.map((task) => String(fake.promptOf(task)))),
      generations: fake.tasks.length,
      kills,
      creditsLeft: balances.reduce((sum, balance) => sum + balance, 0),
      ledger: (await installation.answer("ledger", "verify")).json,
      seconds,
      requests: fake.server.requests.length,
      refusedCalls: fake.refusedCalls,
    };
  } finally {
    stopEnding();
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
