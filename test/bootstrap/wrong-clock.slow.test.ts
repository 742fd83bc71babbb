import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresDatabase } from "../../adapters/persistence/database/postgres/open-postgres-database.js";
import type { PostgresDatabase } from "../../adapters/persistence/database/postgres/postgres-database.js";
import { ledger } from "../../application/credits/ledger.js";
import { accountsWithKeys, secretsOf } from "../support/accounts-with-keys.js";
import { FakeHttpProvider, HTTP_TOKEN } from "../support/fake-http-provider.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { freshDatabase } from "../support/postgres.js";
import { RestClient } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";
import { sqlStores } from "../support/sql-stores.js";
import { seamless } from "../support/test-images.js";

/** Few, because pictures take time. */
const ACCOUNTS = 2;
const TASKS_OF_EACH = 5;
const CREDITS = 100;
const PRICE = 4;

describe("two instances on PostgreSQL, one of whose wall clocks is ten minutes ahead", () => {
  let provider: FakeHttpProvider;
  let right: Installation;
  let wrong: Installation;
  let database: PostgresDatabase;

  beforeAll(async () => {
    provider = await FakeHttpProvider.start();
    provider.picture = await seamless({ widthPixels: 512, heightPixels: 256 }).jpeg().toBuffer();
    const databaseUrl = await freshDatabase();
    database = await openPostgresDatabase(databaseUrl, 2);
    const environment = {
      DATABASE_URL: databaseUrl,
      PUBLIC_URL: "https://panorama.example",
      DEMO: "false",
      PROVIDER: "http",
      HTTP_PROVIDER_URL: provider.baseUrl,
      HTTP_PROVIDER_TOKEN: HTTP_TOKEN,
      PROVIDER_POLL_MS: "500",
      LEASE_MS: "2000",
      GENERATION_DEADLINE_MS: "120000",
    };
    right = await migratedInstallation(environment);
    wrong = await migratedInstallation({
      ...environment,
      DATA_DIR: right.dataDir,
      NODE_OPTIONS: `--require ${resolve("test/support/wrong-clock.cjs")}`,
      WALL_CLOCK_AHEAD_MS: "600000",
    });
    await Promise.all([right.start(), wrong.start()]);
  });
  afterAll(async () => {
    await Promise.all([right.remove(), wrong.remove()]);
    await database.close();
    await provider.close();
  });

  it("make all of ten paid tasks, each once, at the time of the database", async () => {
    provider.plan = "run";
    const keys = secretsOf(await accountsWithKeys(database, ACCOUNTS, CREDITS));
    const created = await Promise.all(
      keys.flatMap((key) =>
        Array.from({ length: TASKS_OF_EACH }, async (_, n) => {
          const body = { prompt: "a quiet lake test:plain", resolution: "1k" };
          const { id, created_at } = await new RestClient((n % 2 ? right : wrong).url, key).create(body);
          expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(300_000);
          return { key, id };
        }),
      ),
    );
    await setTimeout(3_000); // polls, leases and recoveries of both instances
    provider.plan = "succeed";
    const ends = await Promise.all(created.map(({ key, id }) => new RestClient(right.url, key).untilKept(id)));
    expect(ends.map(({ status, error }) => error?.message ?? status)).toEqual(created.map(() => "succeeded"));
    expect(provider.tasks.map(({ id }) => id).sort()).toEqual(created.map(({ id }) => id).sort());
    const credits = await Promise.all(keys.map((key) => new RestClient(wrong.url, key).credits()));
    expect(credits).toEqual(keys.map(() => CREDITS - TASKS_OF_EACH * PRICE));
    expect((await ledger(sqlStores(database)).verifyLedger()).findings).toEqual([]);
  });

  it("are ready or not, and say why: log, metric, /readyz", async () => {
    expect((await fetch(`${right.url}/readyz`)).status).toBe(200);
    const refused = await fetch(`${wrong.url}/readyz`);
    expect(refused.status).toBe(503);
    const { checks } = (await refused.json()) as { checks: { name: string; ok: boolean; detail: string }[] };
    expect(checks.filter(({ ok }) => !ok)).toEqual([
      {
        name: "clock",
        ok: false,
        detail: "This machine's clock is 600 s ahead of the database's. Synchronize both (NTP).",
      },
    ]);
    const metric = async ({ url }: Installation) => {
      const answer = await (await fetch(`${url}/metrics`)).text();
      return Number(/^panorama_clock_difference_seconds (\S+)$/m.exec(answer)?.[1]);
    };
    expect(await metric(wrong)).toBeCloseTo(600, 0);
    expect(Math.abs(await metric(right))).toBeLessThan(1);
    await Promise.all([right.end("SIGTERM"), wrong.end("SIGTERM")]);
    expect(right.log).not.toContain("clock_differs");
    expect(wrong.log.match(/"event":"clock_differs"/g)).toHaveLength(1);
  });
});

it("a service on SQLite ends no task because its wall clock is set forward by 20 minutes", async () => {
  const provider = await FakeHttpProvider.start();
  provider.picture = await seamless({ widthPixels: 512, heightPixels: 256 }).jpeg().toBuffer();
  provider.plan = "run";
  const service = await migratedInstallation({
    DEMO: "false",
    PROVIDER: "http",
    HTTP_PROVIDER_URL: provider.baseUrl,
    HTTP_PROVIDER_TOKEN: HTTP_TOKEN,
    PROVIDER_POLL_MS: "500",
    NODE_OPTIONS: `--require ${resolve("test/support/wrong-clock.cjs")}`,
    WALL_CLOCK_AHEAD_MS: "1200000",
    WALL_CLOCK_SET: "1",
  });
  const opened = await service.answer("account", "create", "--email", "ann@example.com", "--credits", "4", "--key");
  await service.start();
  const client = new RestClient(service.url, String(opened.json.api_key));
  const { id } = await client.create({ prompt: "a quiet lake test:plain", resolution: "1k" });
  service.signal("SIGUSR2");
  const before = provider.server.requests.length;
  await expect.poll(() => provider.server.requests.length).toBeGreaterThan(before + 3); // polls by the clock that was set
  provider.plan = "succeed";
  expect((await client.untilKept(id)).status).toBe("succeeded");
  await service.remove();
  await provider.close();
});
