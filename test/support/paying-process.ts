import { openDatabase } from "../../adapters/persistence/database.js";
import { SqlAccountStore } from "../../adapters/persistence/sql-account-store.js";
import { credits } from "../../domain/credits.js";
import { pay } from "../../domain/order.js";
import { accountId, anAccount, aPendingOrder, noon, orderId } from "./builders.js";

/** A process of its own, as the operator's command is: opens account N and pays one-credit orders on it. */
const [file = "", n = "1", orders = "1"] = process.argv.slice(2);
const owner = accountId(Number(n));
const database = await openDatabase(file);
const accounts = new SqlAccountStore(database);
await accounts.open(anAccount({ id: owner }), undefined, undefined, undefined);
for (let i = 0; i < Number(orders); i += 1) {
  const order = aPendingOrder({ id: orderId(Number(n) * 1_000_000 + i), accountId: owner, credits: credits(1) });
  await accounts.insertOrder(order);
  await accounts.payOrder(pay(order, noon)._unsafeUnwrap());
}
await database.close();
