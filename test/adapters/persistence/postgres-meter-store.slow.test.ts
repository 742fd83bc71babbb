import { randomUUID } from "node:crypto";
import { ok } from "neverthrow";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeMeter } from "../../../adapters/contracts/meter-contract.js";
import { describeMeterStore } from "../../../adapters/contracts/meter-store-contract.js";
import type { HandClock } from "../../../adapters/memory/hand-clock.js";
import { openPostgresDatabase } from "../../../adapters/persistence/postgres/open-postgres-database.js";
import { METER_STEPS } from "../../../adapters/persistence/schema/meter-steps.js";
import type { Database } from "../../../adapters/persistence/sql/database.js";
import { SqlMeterStore } from "../../../adapters/persistence/stores/sql-meter-store.js";
import { meter } from "../../../application/credits/meter.js";
import { accountId } from "../../../domain/account-id.js";
import { credits } from "../../../domain/credits/credits.js";
import { orderId } from "../../../domain/credits/order.js";
import { definePolicy } from "../../../domain/credits/policy.js";
import { taskId } from "../../../domain/task-id.js";
import { freshDatabase } from "../../support/postgres.js";
import { timedBy } from "../../support/timed-by.js";

const ids = { taskId: () => taskId(randomUUID()) };

const unused = {
  now: (): Date => {
    throw new Error("A process must not decide by its own clock.");
  },
};

describe("SqlMeterStore on PostgreSQL", () => {
  let database: Database;

  beforeAll(async () => {
    database = await openPostgresDatabase(await freshDatabase(), 4);
    for (const statement of METER_STEPS.flatMap(({ up }) => up.postgresql)) await database.sql(statement);
  });
  afterAll(() => database.close());

  const open = async (clock: HandClock) => {
    await database.sql("truncate meter_account, meter_hold, meter_log, meter_entry");
    return { store: new SqlMeterStore(timedBy(clock, database), unused, ids), close: async () => {} };
  };

  describeMeterStore({ describe, it, beforeEach, afterEach }, "on PostgreSQL", open);
  describeMeter({ describe, it }, "on PostgreSQL", open, 10);

  it("decides by the time of the database, whatever the clocks of the processes show", async () => {
    await database.sql("truncate meter_account, meter_hold, meter_log, meter_entry");
    const rates = { render: { limit: 3, windowSeconds: 60 } };
    const policy = definePolicy({ prices: { print: 3 }, rates, activeMax: 10, holdSeconds: 60 });
    const meterOf = (aheadMilliseconds: number) => {
      const clock = { now: () => new Date(Date.now() + aheadMilliseconds) };
      return meter({ policy, store: new SqlMeterStore(database, clock, ids) });
    };
    const [behind, ahead] = [meterOf(-90_000), meterOf(90_000)];
    const acme = accountId("acme");
    await behind.purchase(acme, { orderId: orderId("order-1"), credits: credits(100) });
    const hold = (await behind.hold(acme, { price: "print", rate: "render" }))._unsafeUnwrap();
    expect(Math.abs(hold.expiresAt.getTime() - Date.now() - 60_000)).toBeLessThan(5_000);
    (await ahead.hold(acme, { price: "print", rate: "render" }))._unsafeUnwrap();
    (await behind.hold(acme, { price: "print", rate: "render" }))._unsafeUnwrap();
    expect((await ahead.admit(acme, "render"))._unsafeUnwrapErr().kind).toBe("rate_limited");
    expect(await ahead.balance(acme)).toBe(91);
    expect(await hold.capture()).toEqual(ok(undefined));
    for (const { entry } of await ahead.ledger(acme)) {
      expect(Math.abs(entry.at.getTime() - Date.now())).toBeLessThan(5_000);
    }
  });
});
