import { DatabaseSync } from "@photostructure/sqlite";
import { expect, it } from "vitest";
import type { SqliteHandle } from "../../../../adapters/persistence/schema/installation.js";
import { migrations, sqlite } from "../../../../adapters/persistence/stores/sqlite-meter-store.js";
import { describeJoiningMeter } from "../../../support/contracts/joining-meter-contract.js";

describeJoiningMeter<SqliteHandle>("on SQLite", async () => {
  const connection = new DatabaseSync(":memory:");
  const store = await sqlite(connection, { prefix: "meter_" });
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
  await expect(sqlite(connection, { migrate: false })).rejects.toThrow("The tables of the meter are not up to date.");
  for (const { statements } of migrations()) for (const statement of statements) connection.exec(statement);
  const store = await sqlite(connection, { migrate: false });
  expect(await store.entries("acme" as never, 10, undefined)).toEqual([]);
  connection.close();
});
