import { ok } from "neverthrow";
import type { OrderStore } from "../../application/ports/order-store.js";
import type { AccountId } from "../../domain/account.js";
import { purchaseEntry } from "../../domain/ledger.js";
import type { Order, OrderId, PaidOrder, PendingOrder } from "../../domain/order.js";
import { orderRow, toOrder } from "./account-rows.js";
import type { Database } from "./database.js";
import { insert } from "./insert.js";
import { entryRow } from "./ledger-rows.js";

/** Orders in SQLite or PostgreSQL. */
export class SqlOrderStore implements OrderStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async insert(order: PendingOrder): Promise<void> {
    await insert(this.database.sql, "credit_order", orderRow(order));
  }

  async find(id: OrderId): Promise<Order | undefined> {
    const [row] = await this.database.sql("select * from credit_order where id = ?", [id]);
    return row && toOrder(row);
  }

  async list(account: AccountId): Promise<Order[]> {
    const rows = await this.database.sql("select * from credit_order where account_id = ? order by id desc", [account]);
    return rows.map(toOrder);
  }

  async countPaid(account: AccountId): Promise<number> {
    const paid = "select id from credit_order where account_id = ? and paid_at is not null";
    return (await this.database.sql(paid, [account])).length;
  }

  async pay(order: PaidOrder): Promise<void> {
    await this.database.transaction<void, never>(async (sql) => {
      const paid = await sql("update credit_order set paid_at = ? where id = ? and paid_at is null returning id", [
        order.paidAt,
        order.id,
      ]);
      if (paid.length === 0) return ok(undefined);
      await sql("update account set credits = credits + ? where id = ?", [order.credits, order.accountId]);
      await insert(sql, "ledger_entry", entryRow(purchaseEntry(order)));
      return ok(undefined);
    });
  }
}
