import { ok, type Result } from "neverthrow";
import type { OrderStore } from "../../../application/ports/stores/order-store.js";
import type { AccountId } from "../../../domain/account-id.js";
import { purchaseEntry } from "../../../domain/credits/ledger.js";
import type { Order, OrderCheckout, OrderId, PaidOrder, PendingOrder } from "../../../domain/credits/order.js";
import { orderRow, toOrder } from "../rows/account-rows.js";
import { insertIfAllowed } from "../rows/insert-if-allowed.js";
import { entryRow } from "../rows/ledger-rows.js";
import { integer } from "../sql/columns.js";
import type { Database } from "../sql/database.js";
import { insert } from "../sql/insert.js";
import { insertion, olderThan } from "../sql/statement.js";

/** Orders in SQLite or PostgreSQL. */
export class SqlOrderStore implements OrderStore {
  private readonly database: Database;
  private readonly onPaid: (order: PaidOrder) => void;

  /** `onPaid` receives each order once, when its payment is committed. It must not throw. */
  constructor(database: Database, onPaid: (order: PaidOrder) => void = () => {}) {
    this.database = database;
    this.onPaid = onPaid;
  }

  async insert(order: PendingOrder): Promise<void> {
    await insert(this.database.sql, "credit_order", orderRow(order));
  }

  place<Refusal>(
    order: PendingOrder,
    since: Date,
    decide: (pendingOrders: number) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal>> {
    const count = {
      text: `select cast(count(*) as integer) as counted from credit_order
        where account_id = ? and paid_at is null and created_at > ?`,
      parameters: [order.accountId, since],
    };
    const statements = { count, insertion: insertion("credit_order", orderRow(order)) };
    return insertIfAllowed(this.database, order.accountId, statements, decide);
  }

  async recordCheckout(id: OrderId, { sessionId, token, priceCents, currency }: OrderCheckout): Promise<void> {
    await this.database.sql(
      `update credit_order set checkout_session = ?, checkout_token = ?, price_cents = ?, currency = ?
      where id = ? and checkout_session is null`,
      [sessionId, token, priceCents, currency, id],
    );
  }

  async find(id: OrderId): Promise<Order | undefined> {
    const [row] = await this.database.sql("select * from credit_order where id = ?", [id]);
    return row && toOrder(row);
  }

  async list(account: AccountId, limit: number, before: OrderId | undefined): Promise<Order[]> {
    const older = olderThan(before);
    const rows = await this.database.sql(
      `select * from credit_order where account_id = ? ${older.text} order by id desc limit ?`,
      [account, ...older.parameters, limit],
    );
    return rows.map(toOrder);
  }

  async countPaid(account: AccountId): Promise<number> {
    const paid =
      "select cast(count(*) as integer) as orders from credit_order where account_id = ? and paid_at is not null";
    const [row] = await this.database.sql(paid, [account]);
    return integer(row ?? {}, "orders");
  }

  async pay(order: PaidOrder): Promise<void> {
    const paidNow = await this.database.transaction<boolean, never>(async (sql) => {
      const paid = await sql("update credit_order set paid_at = ? where id = ? and paid_at is null returning id", [
        order.paidAt,
        order.id,
      ]);
      if (paid.length === 0) return ok(false);
      await sql("update account set credits = credits + ? where id = ?", [order.credits, order.accountId]);
      await insert(sql, "ledger_entry", entryRow(purchaseEntry(order)));
      return ok(true);
    });
    if (paidNow._unsafeUnwrap()) this.onPaid(order);
  }
}
