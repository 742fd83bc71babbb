import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeMeter } from "../../../../adapters/contracts/meter/meter-contract.js";
import { describeMeterStore } from "../../../../adapters/contracts/meter/meter-store-contract.js";
import { HandClock } from "../../../../adapters/memory/hand-clock.js";
import { SqlMeterStore } from "../../../../adapters/persistence/credits/sql-meter-store.js";
import { METER_STEPS } from "../../../../adapters/persistence/database/schema/meter-steps.js";
import { sqliteFile } from "../../../../adapters/persistence/database/sqlite/open-sqlite-file.js";
import { SqliteDatabase } from "../../../../adapters/persistence/database/sqlite/sqlite-database.js";
import { meter } from "../../../../application/credits/meter.js";
import { credits } from "../../../../domain/credits/credits.js";
import { idempotencyKey } from "../../../../domain/credits/idempotency.js";
import { orderId } from "../../../../domain/credits/order.js";
import { definePolicy } from "../../../../domain/credits/policy.js";
import { accountId, taskId } from "../../../../domain/ids.js";
import { describeMeterClocks } from "../../../support/contracts/meter-clocks-contract.js";
import { timedBy } from "../../../support/timed-by.js";

const ids = { taskId: () => taskId(randomUUID()) };

/** A SQLite file of an embedding service: it has the tables of the meter and no others. */
const meterInFile = async (clock: HandClock) => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-meter-"));
  const file = join(folder, "own.sqlite");
  const database = new SqliteDatabase(sqliteFile(file));
  for (const statement of METER_STEPS.flatMap(({ up }) => up.sqlite)) await database.sql(statement);
  const close = async () => {
    await database.close();
    await rm(folder, { recursive: true });
  };
  const elsewhere = () => new SqlMeterStore(timedBy(clock, database), ids);
  return { file, database, store: elsewhere(), elsewhere, close };
};

describeMeterStore({ describe, it, beforeEach, afterEach }, "on SQLite", meterInFile);
describeMeter({ describe, it }, "on SQLite", meterInFile, { runs: 10 });

describeMeterClocks("on SQLite", async () => {
  const { file, database, close } = await meterInFile(new HandClock());
  const second = new SqliteDatabase(sqliteFile(file));
  return { databases: [database, second], close: () => second.close().then(close) };
});

describe("SqlMeterStore", () => {
  it("finds the hold of a dead process in a repeated call, and captures it once", async () => {
    const clock = new HandClock();
    const { file, store, close } = await meterInFile(clock);
    const policy = definePolicy({ prices: { print: 3 }, rates: {}, activeMax: 1 });
    const acme = accountId("acme");
    const request = { price: "print", idempotencyKey: idempotencyKey("upload-7") } as const;
    const before = meter({ policy, store });
    await before.purchase(acme, { orderId: orderId("order-1"), credits: credits(10) });
    const lost = (await before.hold(acme, request))._unsafeUnwrap();

    // Another process on the same file, which shares nothing with the first one.
    const second = new SqliteDatabase(sqliteFile(file));
    const after = meter({ policy, store: new SqlMeterStore(timedBy(clock, second), ids) });
    const found = (await after.hold(acme, request))._unsafeUnwrap();
    expect(found).toMatchObject({ taskId: lost.taskId, state: "held", replayed: true, expiresAt: lost.expiresAt });
    const ends = await Promise.all([found.capture(), lost.capture(), found.capture()]);
    expect(ends).toEqual([ok(undefined), ok(undefined), ok(undefined)]);
    expect([await before.balance(acme), await after.balance(acme)]).toEqual([7, 7]);
    expect((await after.ledger(acme)).map(({ entry }) => entry.credits)).toEqual([-3, 10]);
    await second.close();
    await close();
  });

  it("leaves no row of an account that was only read", async () => {
    const { database, store, close } = await meterInFile(new HandClock());
    expect(await store.change(accountId("acme"), {}, (record) => ({ answer: record.credits }))).toBe(0);
    expect(await database.sql("select * from meter_account")).toEqual([]);
    await close();
  });
});
