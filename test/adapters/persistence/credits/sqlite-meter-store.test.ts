import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, it } from "vitest";
import { sqliteMeterStore } from "../../../../adapters/persistence/credits/sqlite-meter-store.js";
import type { SqliteHandle } from "../../../../adapters/persistence/database/schema/installation.js";
import { migrationTexts } from "../../../../adapters/persistence/database/schema/migrate.js";
import { meter } from "../../../../application/credits/meter.js";
import { definePolicy } from "../../../../domain/credits/policy.js";
import { describeJoiningMeter } from "../../../support/contracts/joining-meter-contract.js";
import { scratchFolder } from "../../../support/scratch-folder.js";

describeJoiningMeter<SqliteHandle>("on SQLite", async () => {
  const connection = new DatabaseSync(":memory:");
  const store = await sqliteMeterStore(connection, { prefix: "meter_" });
  connection.exec("create table job (id integer primary key, task_id text)");
  return {
    store,
    transact: async (end, work) => {
      connection.exec("begin immediate");
      await work(connection);
      connection.exec(end);
    },
    insertJob: async (open, taskId) => void open.prepare("insert into job (task_id) values (?)").run(taskId),
    jobs: async () =>
      connection
        .prepare("select task_id from job order by id")
        .all()
        .map((row) => String(row.task_id)),
    idle: connection,
    close: async () => connection.close(),
  };
});

it("a store in SQLite refuses tables that are not up to date, unless it may migrate them", async () => {
  const connection = new DatabaseSync(":memory:");
  await expect(sqliteMeterStore(connection, { migrate: false })).rejects.toThrow(
    "The tables of the meter are not up to date.",
  );
  for (const { statements } of migrationTexts({ dialect: "sqlite", tables: ["meter"] }))
    for (const statement of statements) connection.exec(statement);
  const store = await sqliteMeterStore(connection, { migrate: false });
  expect(await store.entries("acme" as never, 10, undefined)).toEqual([]);
  connection.close();
});

const policy = definePolicy({ prices: { minute: 2 }, rates: {}, activeMax: 5 });

it("a store in SQLite ignores columns of a later version", async () => {
  const connection = new DatabaseSync(":memory:");
  const pdf = meter({ policy, store: await sqliteMeterStore(connection) });
  await pdf.purchase("acme", { orderId: "order-1", credits: 10 });
  const { taskId } = (await pdf.hold("acme", { price: "minute", description: "a lake" }))._unsafeUnwrap();
  expect(await pdf.balance("acme")).toBe(8);
  expect(await pdf.find("acme", taskId)).toMatchObject({ credits: 2, description: "a lake" });
  connection.exec("alter table meter_hold add column of_later integer not null default 99");
  expect(await pdf.balance("acme")).toBe(8);
  expect(await pdf.find("acme", taskId)).toMatchObject({ credits: 2, description: "a lake" });
  connection.close();
});

it("a store in SQLite throws an instructive error if another process writes during a deferred transaction", async () => {
  const path = join(await scratchFolder(), "own.sqlite");
  const [own, other] = [new DatabaseSync(path), new DatabaseSync(path)];
  const pdf = meter({ policy, store: await sqliteMeterStore(own) });
  own.exec("begin");
  other.exec("begin immediate");
  await expect(pdf.within(own).purchase("acme", { orderId: "order-1", credits: 10 })).rejects.toMatchObject({
    name: "StoreBusy",
    message: expect.stringContaining("begin immediate"),
  });
  other.exec("commit");
  expect(await pdf.within(own).purchase("acme", { orderId: "order-1", credits: 10 })).toBe(10);
  own.exec("commit");
  expect(await pdf.balance("acme")).toBe(10);
  own.close();
  other.close();
});
