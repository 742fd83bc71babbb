import { raw } from "@mikro-orm/core";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountId, anAccount, noon } from "../../../../../adapters/contracts/support/builders.js";
import { entitiesOf, inUnitOfWork } from "../../../../../adapters/persistence/database/orm/entities.js";
import {
  AccountTable,
  OutgoingEmailTable,
  SessionTable,
} from "../../../../../adapters/persistence/database/orm/entity-tables.js";
import type { AnyDatabase, Sql } from "../../../../../adapters/persistence/database/sql/database.js";
import { sqlStores } from "../../../../../adapters/persistence/sql-stores.js";
import { StoreBusy } from "../../../../../application/ports/stores/store-errors.js";
import { sharedPostgresStores } from "../../../../support/postgres-stores.js";
import { sqliteStores } from "../../../../support/sqlite-stores.js";

const message = (id: string) => ({
  id,
  kind: "none",
  recipient: "a@example.com",
  accountId: null,
  attempt: 0,
  dueAt: noon,
});
const session = { tokenSha256: "1".repeat(64), accountId: accountId(1), createdAt: noon, expiresAt: noon };

const describeEntities = (
  technology: string,
  makeStores: () => Promise<{ database: AnyDatabase; close(): Promise<void> }>,
) =>
  describe(`entities ${technology}`, () => {
    let database: AnyDatabase;
    let close: () => Promise<void>;

    beforeEach(async () => {
      ({ database, close } = await makeStores());
      await sqlStores(database).accounts.open(anAccount());
    });
    afterEach(() => close());

    const messages = async () => (await database.sql("select id from outgoing_email order by id")).map(({ id }) => id);

    it("read and write with one statement and bound values", async () => {
      const seen: { text: string; values: readonly unknown[] }[] = [];
      const sql: Sql = (text, values = []) => {
        seen.push({ text, values });
        return database.sql(text, values);
      };
      const entities = entitiesOf({ dialect: database.dialect, sql });
      await entities.insert(OutgoingEmailTable, message("it's ? \\ one"));
      const where = { id: "it's ? \\ one", dueAt: { $lte: noon } };
      expect(await entities.find(OutgoingEmailTable, where, { limit: 1 })).toMatchObject([message("it's ? \\ one")]);
      expect(await entities.nativeUpdate(OutgoingEmailTable, where, { attempt: 7 })).toBe(1);
      expect(await entities.nativeDelete(OutgoingEmailTable, where)).toBe(1);
      expect(await entities.nativeDelete(OutgoingEmailTable, where)).toBe(0);
      expect(seen).toHaveLength(5);
      for (const { text, values } of seen) {
        expect(text).not.toMatch(/it's|2026|7/);
        expect(values).toContain("it's ? \\ one");
      }
    });

    it("take no raw SQL as a value", async () => {
      const entities = entitiesOf(database);
      const credits = raw("credits - ?", [4]);
      const refused = /raw\(\) cannot be a value/;
      await expect(entities.nativeUpdate(AccountTable, accountId(1), { credits })).rejects.toThrow(refused);
      await expect(entities.insert(OutgoingEmailTable, { ...message("a"), attempt: raw("1") })).rejects.toThrow(
        refused,
      );
      const written = inUnitOfWork<void, never>(database, async (manager) => {
        const account = await manager.findOneOrFail(AccountTable, accountId(1));
        account.credits = raw("credits - 4");
        return ok(undefined);
      });
      await expect(written).rejects.toThrow(refused);
    });

    it("begin no transaction of their own", async () => {
      const advice = /Database.transaction/;
      await inUnitOfWork<void, never>(database, async (manager) => {
        await expect(manager.transactional(async () => {})).rejects.toThrow(advice);
        await expect(manager.fork().transactional(async () => {})).rejects.toThrow(advice);
        await expect(manager.begin()).rejects.toThrow(advice);
        await expect(manager.fork().find(OutgoingEmailTable, {})).rejects.toThrow("inUnitOfWork");
        return ok(undefined);
      });
    });

    it("are flushed if the work returns Ok, not if it returns Err or throws", async () => {
      const add = (id: string, outcome: () => ReturnType<typeof ok<void, string>>) =>
        inUnitOfWork<void, string>(database, async (manager) => {
          manager.create(OutgoingEmailTable, message(id));
          await manager.find(OutgoingEmailTable, {}); // writes what it would read
          manager.create(OutgoingEmailTable, message(`${id}2`));
          return outcome();
        });
      expect(await add("a", () => ok(undefined))).toEqual(ok(undefined));
      expect(await add("b", () => err("no") as never)).toEqual(err("no"));
      const thrown = add("c", () => {
        throw new Error("broken");
      });
      await expect(thrown).rejects.toThrow("broken");
      expect(await messages()).toEqual(["a", "a2"]);
    });

    it("leave the errors of the database as they are", async () => {
      const busy = new StoreBusy("Others write.");
      const sql: Sql = () => Promise.reject(busy);
      await expect(entitiesOf({ dialect: database.dialect, sql }).find(OutgoingEmailTable, {})).rejects.toBe(busy);
    });

    it("wait for nothing but their statements", async () => {
      // These statements are answered in the same turn of the event loop, as SQLite's are.
      const sql: Sql = async (text) => (text.startsWith("update") ? [{ changed: 1 }] : []);
      let turns = 0;
      const count = setInterval(() => {
        turns += 1;
      });
      const here = setImmediate(() => {
        turns += 1;
      });
      const transaction: AnyDatabase["transaction"] = (work) => work(sql);
      await inUnitOfWork<void, never>({ dialect: database.dialect, transaction }, async (manager) => {
        await manager.find(SessionTable, {});
        await manager.nativeUpdate(OutgoingEmailTable, { id: "a" }, { attempt: 1 });
        manager.create(SessionTable, session);
        for (const id of ["a", "b", "c"]) manager.create(OutgoingEmailTable, message(id));
        return ok(undefined);
      });
      clearInterval(count);
      clearImmediate(here);
      expect(turns).toBe(0);
    });
  });

describeEntities("on SQLite", sqliteStores);
describeEntities("on PostgreSQL", sharedPostgresStores());
