import { err, ok } from "neverthrow";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anAccount, anApiKey, aPaidOrder, apiKeyId, noon } from "../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../adapters/memory/hand-clock.js";
import type { Database } from "../../../../adapters/persistence/database/sql/database.js";
import { PostgresApiRequests } from "../../../../adapters/persistence/limits/postgres-api-requests.js";
import type { RequestKind } from "../../../../domain/panorama-policy.js";
import { RATE_LIMITS } from "../../../../domain/panorama-policy.js";
import { freshDatabase } from "../../../support/postgres.js";
import { postgresStores } from "../../../support/postgres-stores.js";

/** The requests of one key wait for the lock of one row, each with a connection that others need. */
describe("PostgresApiRequests with a key over its limit", () => {
  const key = anApiKey();
  let url: string;
  let stores: Awaited<ReturnType<typeof postgresStores>>;
  let statements: number;
  let clock: HandClock;
  let requests: PostgresApiRequests;

  beforeAll(async () => {
    url = await freshDatabase();
  });
  beforeEach(async () => {
    stores = await postgresStores(url);
    await stores.accounts.open(anAccount(), { order: aPaidOrder() });
    (await stores.keys.insert(key, () => ok(undefined)))._unsafeUnwrap();
    statements = 0;
    const counting: Pick<Database, "sql"> = {
      sql: (...given) => {
        statements += 1;
        return stores.database.sql(...given);
      },
    };
    clock = new HandClock();
    requests = new PostgresApiRequests(counting, clock, RATE_LIMITS);
  });
  afterEach(() => stores.close());

  const admit = async (kind: RequestKind = "read") => requests.admit(key.secretSha256, kind);
  const admitAtOnce = (count: number) => Promise.all(Array.from({ length: count }, () => admit()));
  const reachLimit = async () => {
    await admitAtOnce(RATE_LIMITS.read.limit);
    await admit();
    statements = 0;
  };

  it("asks the database once a second", async () => {
    await reachLimit();
    for (let seconds = 0; seconds < 10; seconds += 1) {
      const results = await admitAtOnce(200);
      expect(results.every((result) => result.isErr())).toBe(true);
      await clock.advance(1_000);
    }
    expect(statements).toBeLessThanOrEqual(10);
  });

  it("asks the database for other keys and other kinds of requests", async () => {
    const other = anApiKey({ id: apiKeyId(2), secretSha256: "2".repeat(64) });
    (await stores.keys.insert(other, () => ok(undefined)))._unsafeUnwrap();
    await reachLimit();
    expect((await admit("write")).isOk()).toBe(true);
    expect((await requests.admit(other.secretSha256, "read")).isOk()).toBe(true);
  });

  it("refuses a key that is revoked meanwhile as unknown, a second later at the latest", async () => {
    await reachLimit();
    await stores.keys.revoke(key.id, noon);
    expect((await admit()).isErr()).toBe(true);
    await clock.advance(1_000);
    expect(await admit()).toEqual(err({ kind: "invalid_api_key" }));
    expect(await admit()).toEqual(err({ kind: "invalid_api_key" }));
  });
});
