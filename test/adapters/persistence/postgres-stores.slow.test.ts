import { err, ok } from "neverthrow";
import { expect, it } from "vitest";
import { accountId, anAccount, noon } from "../../../adapters/contracts/support/builders.js";
import { SqlAccountStore } from "../../../adapters/persistence/accounts/sql-account-store.js";
import type { Database } from "../../../adapters/persistence/database/sql/database.js";
import type { Email } from "../../../domain/accounts/account.js";
import { openPasswordLink } from "../../../domain/accounts/password.js";
import { describeSqlStores } from "../../support/contracts/sql-stores-contract.js";
import { sharedPostgresStores } from "../../support/postgres-stores.js";

const stores = sharedPostgresStores();

describeSqlStores("on PostgreSQL", stores);

it("returns email_taken on PostgreSQL if an account with the address is opened concurrently", async () => {
  const { database, accounts, links, close } = await stores();
  const [digest, email] = ["1".repeat(64), "wanted@example.com" as Email];
  const confirming = anAccount({ id: accountId(1) });
  await accounts.open(confirming);
  await links.insert(openPasswordLink(email, digest, noon), noon, 1);

  let confirmed: Promise<unknown> | undefined;
  // Commits the new account only when the confirmation waits for it.
  const transaction: Database["transaction"] = (work) =>
    database.transaction(async (sql) => {
      const opened = await work(sql);
      confirmed = links.confirmEmail(digest, confirming.id, noon);
      while ((await database.sql("select 1 from pg_locks where not granted")).length === 0);
      return opened;
    });
  const opening = Object.assign(Object.create(database) as Database, { transaction });
  expect(await new SqlAccountStore(opening).open(anAccount({ id: accountId(2), email }))).toEqual(ok(undefined));
  expect(await confirmed).toEqual(err({ kind: "email_taken", email }));
  expect(await accounts.find(confirming.id)).toEqual(confirming);
  expect(await links.find(digest, noon)).toBe(email);
  await close();
});
