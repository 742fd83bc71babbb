import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "vitest";
import { describeMeter } from "../../../adapters/contracts/meter/meter-contract.js";
import { describeMeterStore } from "../../../adapters/contracts/meter/meter-store-contract.js";
import type { HandClock } from "../../../adapters/memory/hand-clock.js";
import { SqlMeterStore } from "../../../adapters/persistence/credits/sql-meter-store.js";
import { openPostgresDatabase } from "../../../adapters/persistence/database/postgres/open-postgres-database.js";
import { METER_STEPS } from "../../../adapters/persistence/database/schema/meter-steps.js";
import type { Database } from "../../../adapters/persistence/database/sql/database.js";
import { taskId } from "../../../domain/ids.js";
import { describeMeterClocks } from "../../support/contracts/meter-clocks-contract.js";
import { freshDatabase } from "../../support/postgres.js";
import { timedBy } from "../../support/timed-by.js";

const ids = { taskId: () => taskId(randomUUID()) };

describe("SqlMeterStore on PostgreSQL", () => {
  let database: Database;

  beforeAll(async () => {
    database = await openPostgresDatabase(await freshDatabase(), 4);
    for (const statement of METER_STEPS.flatMap(({ up }) => up.postgresql)) await database.sql(statement);
  });
  afterAll(() => database.close());

  const open = async (clock: HandClock) => {
    await database.sql("truncate meter_account, meter_hold, meter_log, meter_entry");
    const elsewhere = () => new SqlMeterStore(timedBy(clock, database), ids);
    return { store: elsewhere(), elsewhere, close: async () => {} };
  };

  describeMeterStore({ describe, it, beforeEach, afterEach }, "on PostgreSQL", open);
  describeMeter({ describe, it }, "on PostgreSQL", open, { runs: 10 });

  describeMeterClocks("on PostgreSQL", async () => {
    const url = await freshDatabase();
    const databases = [await openPostgresDatabase(url, 2), await openPostgresDatabase(url, 2)] as const;
    for (const statement of METER_STEPS.flatMap(({ up }) => up.postgresql)) await databases[0].sql(statement);
    return { databases, close: async () => void (await Promise.all(databases.map((database) => database.close()))) };
  });
});
