import { dirname } from "node:path";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountId, anAccount, aPaidOrder } from "../../../adapters/contracts/support/builders.js";
import { StoreFull } from "../../../application/ports/stores/store-errors.js";
import { credits } from "../../../domain/credits/credits.js";
import { fillDisk } from "../../support/full-disk.js";
import { sqliteStores } from "../../support/sqlite-stores.js";

const CREDITS = 1_000;
const MIB = 1024 * 1024;

describe("a full SQLite file", () => {
  let stores: Awaited<ReturnType<typeof sqliteStores>>;

  const pragma = async (text: string): Promise<number> => {
    const rows = await stores.database.transaction(async (sql) => ok(await sql(`pragma ${text}`)));
    return Number(Object.values(rows._unsafeUnwrap()[0] ?? {})[0]);
  };
  /** Leaves no free page; pages that are not full still take small rows. */
  const fill = async () => {
    await pragma(`max_page_count = ${await pragma("page_count")}`);
    for (const bytes of [MIB, 16 * 1024, 1024]) {
      for (let full = false; !full; )
        full = await addRow(bytes).then(
          () => false,
          () => true,
        );
    }
  };
  /** Fits into no page if it is long. */
  const addRow = (bytes: number, sql = stores.database.sql) =>
    sql("insert into operator_action (at, operator, command, arguments) values (1, 'a', 'b', ?)", ["x".repeat(bytes)]);
  const makeRoom = () => pragma("max_page_count = 1000000");
  const credit = (amount: number) =>
    stores.database.sql("update account set credits = credits + ? where id = ?", [amount, accountId(1)]);
  const balance = async (account: string = accountId(1)) =>
    Number((await stores.database.sql("select credits from account where id = ?", [account]))[0]?.credits);

  beforeEach(async () => {
    stores = await sqliteStores();
    await stores.accounts.open(anAccount(), { order: aPaidOrder({ credits: credits(CREDITS) }) });
  });
  afterEach(() => stores.close());

  it("undoes all transactions of the group, and all of them throw StoreFull", async () => {
    await fill();
    const outcomes = await Promise.allSettled([
      credit(1),
      addRow(MIB),
      stores.database.transaction(async (sql) => {
        await sql("update account set credits = credits + 10 where id = ?", [accountId(1)]);
        return err("refused");
      }),
    ]);
    expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason)).toEqual(
      outcomes.map(() => expect.any(StoreFull)),
    );
    expect(await balance()).toBe(CREDITS);
    await makeRoom();
    await credit(1);
    expect(await balance()).toBe(CREDITS + 1);
  });

  it("commits nothing of a transaction that continues after the error", async () => {
    await fill();
    const goesOn = stores.database.transaction(async (sql) => {
      await Promise.allSettled([
        addRow(MIB, sql),
        sql("update account set credits = credits + 10 where id = ?", [accountId(1)]),
      ]);
      return ok(undefined);
    });
    await expect(goesOn).rejects.toBeInstanceOf(StoreFull);
    expect(await balance()).toBe(CREDITS);
  });

  it("makes ping fail while the disk is full", async () => {
    await expect(stores.database.ping()).resolves.toBeUndefined();
    const empty = fillDisk(dirname(stores.file));
    await expect(stores.database.ping()).rejects.toBeInstanceOf(StoreFull);
    empty();
    await expect(stores.database.ping()).resolves.toBeUndefined();
  });
});
