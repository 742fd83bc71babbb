import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HandClock } from "../../../../adapters/memory/hand-clock.js";
import { openPostgresDatabase } from "../../../../adapters/persistence/database/postgres/open-postgres-database.js";
import type { Database } from "../../../../adapters/persistence/database/sql/database.js";
import { PostgresRateLimits } from "../../../../adapters/persistence/limits/postgres-rate-limits.js";
import type { ApiKeyId } from "../../../../domain/accounts/api-key.js";
import { RATE_LIMITS, RATE_WINDOW_MILLISECONDS } from "../../../../domain/panorama-policy.js";
import { rateLimitsContract } from "../../../contracts/rate-limits-contract.js";
import { freshDatabase } from "../../../support/postgres.js";

describe("PostgresRateLimits", () => {
  const key = "key_1" as ApiKeyId;
  let database: Database;
  let other: Database;

  const empty = () => database.sql("truncate rate_limit");

  beforeAll(async () => {
    const url = await freshDatabase();
    database = await openPostgresDatabase(url, 4);
    other = await openPostgresDatabase(url, 4);
  });
  afterAll(async () => {
    await database.close();
    await other.close();
  });

  rateLimitsContract(async (clock, rates) => {
    await empty();
    return new PostgresRateLimits(database, clock, rates);
  }, 12);

  it("admits exactly 60 of 90 concurrent reads on three instances", async () => {
    await empty();
    const clock = new HandClock();
    const instances = [database, other, database].map(
      (connections) => new PostgresRateLimits(connections, clock, RATE_LIMITS),
    );
    const reads = Array.from({ length: 30 }, () => instances.map((limits) => limits.admit(key, "read"))).flat();
    expect((await Promise.all(reads)).filter((result) => result.isOk())).toHaveLength(60);
  });

  it("admits requests after the clock is set back by a window", async () => {
    await empty();
    const clock = new HandClock();
    const limits = new PostgresRateLimits(database, clock, RATE_LIMITS);
    for (let write = 0; write < 10; write += 1) await limits.admit(key, "write");
    const earlier = new HandClock(new Date(clock.now().getTime() - RATE_WINDOW_MILLISECONDS));
    expect((await new PostgresRateLimits(database, earlier, RATE_LIMITS).admit(key, "write")).isOk()).toBe(true);
  });

  it("deletes the rows of keys that were idle for a window, and no others", async () => {
    await empty();
    const clock = new HandClock();
    const limits = new PostgresRateLimits(database, clock, RATE_LIMITS);
    const keys = async () => (await database.sql("select api_key_id from rate_limit")).map((row) => row.api_key_id);
    await limits.admit(key, "read");
    await clock.advance(1);
    await limits.admit("key_2" as ApiKeyId, "read");
    await clock.advance(RATE_WINDOW_MILLISECONDS - 2);
    await limits.clean();
    expect(await keys()).toHaveLength(2);
    await clock.advance(1);
    await limits.clean();
    expect(await keys()).toEqual(["key_2"]);
  });

  it("keeps the rows of all kinds for the longest window", async () => {
    await empty();
    const clock = new HandClock();
    const rates = { preview: { limit: 1, windowSeconds: 5 }, print: { limit: 1, windowSeconds: 60 } };
    const limits = new PostgresRateLimits(database, clock, rates);
    await limits.admit(key, "print");
    await clock.advance(59_999);
    await limits.clean();
    expect((await limits.admit(key, "print")).isErr()).toBe(true);
    await clock.advance(1);
    await limits.clean();
    expect(await database.sql("select kind from rate_limit")).toEqual([]);
  });
});
