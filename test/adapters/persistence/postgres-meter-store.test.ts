import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "vitest";
import { describeMeter } from "../../../adapters/contracts/meter-contract.js";
import { describeMeterStore } from "../../../adapters/contracts/meter-store-contract.js";
import type { HandClock } from "../../../adapters/memory/hand-clock.js";
import type { Database } from "../../../adapters/persistence/database.js";
import { METER_STEPS } from "../../../adapters/persistence/meter-steps.js";
import { openPostgresDatabase } from "../../../adapters/persistence/postgres-database.js";
import { SqlMeterStore } from "../../../adapters/persistence/sql-meter-store.js";
import { taskId } from "../../../domain/task-id.js";
import { freshDatabase } from "../../support/postgres.js";

describe("SqlMeterStore on PostgreSQL", () => {
  let database: Database;

  beforeAll(async () => {
    database = await openPostgresDatabase(await freshDatabase(), 4);
    for (const statement of METER_STEPS.flatMap(({ up }) => up.postgresql)) await database.sql(statement);
  });
  afterAll(() => database.close());

  const open = async (clock: HandClock) => {
    await database.sql("truncate meter_account, meter_hold, meter_log, meter_entry");
    const store = new SqlMeterStore(database, clock, { taskId: () => taskId(randomUUID()) });
    return { store, close: async () => {} };
  };

  describeMeterStore({ describe, it, beforeEach, afterEach }, "on PostgreSQL", open);
  describeMeter({ describe, it }, "on PostgreSQL", open, 10);
});
