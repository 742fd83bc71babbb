import { accountId, anAccount, aPendingOrder, noon, orderId } from "../../dist/adapters/contracts/support/builders.js";
import { openSqliteDatabase } from "../../dist/adapters/persistence/database/sqlite/open-sqlite-database.js";
import { sqlStores } from "../../dist/adapters/persistence/sql-stores.js";
import { credits } from "../../dist/domain/credits/credits.js";
import { pay } from "../../dist/domain/credits/order.js";

/** A separate process, like an operator's command: opens account N and pays `count` orders of one credit each on it. */
const [file = "", n = "1", count = "1"] = process.argv.slice(2);
const owner = accountId(Number(n));
const database = await openSqliteDatabase(file);
const { accounts, orders } = sqlStores(database);
await accounts.open(anAccount({ id: owner }));
for (let i = 0; i < Number(count); i += 1) {
  const order = aPendingOrder({ id: orderId(Number(n) * 1_000_000 + i), accountId: owner, credits: credits(1) });
  await orders.insert(order);
  await orders.pay(pay(order, noon)._unsafeUnwrap());
}
await database.close();
