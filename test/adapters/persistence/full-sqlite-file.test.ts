import { statfs } from "node:fs/promises";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { aCreationRequest, accountId, anAccount, aPaidOrder } from "../../../adapters/contracts/builders.js";
import { verifyLedger } from "../../../application/credits/verify-ledger.js";
import { StoreFull } from "../../../application/ports/store-full.js";
import type { AccountId } from "../../../domain/account.js";
import { credits } from "../../../domain/credits.js";
import type { Task } from "../../../domain/task.js";
import { GENERATION_DEADLINE_MILLISECONDS, LEASE_MILLISECONDS, useCases } from "../../support/application.js";
import { sqliteStores } from "../../support/sqlite-stores.js";
import { anOwner, aWorld } from "../../support/world.js";

vi.mock("node:fs/promises", async (original) => {
  const module = await original<typeof import("node:fs/promises")>();
  return { ...module, statfs: vi.fn(module.statfs) };
});

type Stores = Awaited<ReturnType<typeof sqliteStores>>;

/** Takes all room that the file has, up to the last page, and gives it back. */
const roomOf = ({ database }: Stores) => {
  const pages = async (pragma: string) =>
    Number(Object.values((await database.transaction(async (sql) => ok(await sql(pragma))))._unsafeUnwrap()[0] ?? {})[0]);
  return {
    take: async () => {
      await database.sql("delete from installation_filler").catch(() => {});
      await pages(`pragma max_page_count = ${await pages("pragma page_count")}`);
    },
    give: () => pages("pragma max_page_count = 1000000"),
  };
};

describe("a full SQLite file", () => {
  let stores: Stores;
  let room: ReturnType<typeof roomOf>;
  const balance = async (id = accountId(1)) =>
    Number((await stores.database.sql("select credits from account where id = ?", [id]))[0]?.credits);
  const credit = (amount: number) =>
    stores.database.sql("update account set credits = credits + ? where id = ?", [amount, accountId(1)]);
  /** Needs more pages than any file has free. Loses the whole transaction, as the error of a full disk does. */
  const BIG = "insert into operator_action (at, operator, command, arguments) values (1, 'x', 'x', ?)";

  beforeEach(async () => {
    stores = await sqliteStores();
    room = roomOf(stores);
    await stores.accounts.open(anAccount(), undefined, aPaidOrder({ credits: credits(1_000) }), undefined);
  });
  afterEach(() => stores.close());
});
