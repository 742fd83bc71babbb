import { ok, type Result } from "neverthrow";
import type { AccessRefused } from "../../../application/ports/stores/access.js";
import type { OrderFilter, OrderStore } from "../../../application/ports/stores/ledger-store.js";
import type {
  Order,
  OrderCheckout,
  OrderId,
  PaidOrder,
  PendingOrder,
  RefundedOrder,
} from "../../../domain/credits/order.js";
import type { PaymentReturn } from "../../../domain/credits/payment-return.js";
import type { AccountId } from "../../../domain/ids.js";
import { inOpenAccount } from "../accounts/in-open-account.js";
import { AWAITS_OPERATOR } from "../database/schema/indexed-conditions.js";
import { integer } from "../database/sql/columns.js";
import type { Database } from "../database/sql/database.js";
import { insert, narrowedTo, update } from "../database/sql/statement.js";
import { checkoutColumns, orderRow, toOrder } from "./order-rows.js";
import { payOrder, recordReturn, returnByHand, returnsOf } from "./pay-order.js";

/** Orders in SQLite or PostgreSQL. */
export class SqlOrderStore implements OrderStore {
  private readonly database: Database;
  private readonly onPaid: (order: PaidOrder) => void;

  /** `onPaid` receives each order once, when its payment is committed. It must not throw. */
  constructor(database: Database, onPaid: (order: PaidOrder) => void = () => {}) {
    this.database = database;
    this.onPaid = onPaid;
  }

  insert(order: PendingOrder): Promise<Result<void, AccessRefused>> {
    return this.place(order, order.createdAt, () => ok(undefined));
  }

  place<Refusal>(
    order: PendingOrder,
    since: Date,
    decide: (pendingOrders: number) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal | AccessRefused>> {
    const { accountId } = order;
    return inOpenAccount(this.database, accountId, undefined, async (sql) => {
      const [row = {}] = await sql(
        `select cast(count(*) as integer) as pending from credit_order
        where account_id = ? and paid_at is null and created_at > ?`,
        [accountId, since],
      );
      const decided = decide(integer(row, "pending"));
      if (decided.isOk()) await insert(sql, "credit_order", orderRow(order));
      return decided;
    });
  }

  async recordCheckout(id: OrderId, checkout: OrderCheckout): Promise<boolean> {
    const { text, parameters } = update("credit_order", checkoutColumns(checkout), { id });
    const changed = await this.database.sql(`${text} and ${AWAITS_OPERATOR} returning id`, parameters);
    return changed.length > 0;
  }

  async cancel(id: OrderId, accountId: AccountId): Promise<boolean> {
    const deleted = await this.database.sql(
      `delete from credit_order where id = ? and account_id = ? and ${AWAITS_OPERATOR} returning id`,
      [id, accountId],
    );
    return deleted.length > 0;
  }

  async find(id: OrderId): Promise<Order | undefined> {
    const [row] = await this.database.sql("select * from credit_order where id = ?", [id]);
    return row && toOrder(row);
  }

  list(account: AccountId, limit: number, before: OrderId | undefined): Promise<Order[]> {
    return this.listAll({ account }, limit, before);
  }

  async countPaid(accountId: AccountId): Promise<number> {
    const [row = {}] = await this.database.sql(
      "select cast(count(*) as integer) as paid from credit_order where account_id = ? and paid_at is not null",
      [accountId],
    );
    return integer(row, "paid");
  }

  async listAll(
    { account, isPending = false, from }: OrderFilter,
    limit: number,
    before: OrderId | undefined,
  ): Promise<Order[]> {
    const narrowed = narrowedTo({ "account_id =": account, "created_at >=": from, "id <": before });
    const rows = await this.database.sql(
      `select * from credit_order where ${isPending ? "paid_at is null" : "true"} ${narrowed.text}
      order by id desc limit ?`,
      [...narrowed.parameters, limit],
    );
    return rows.map(toOrder);
  }

  async pay(order: PaidOrder | RefundedOrder): Promise<Order | undefined> {
    const paid = await payOrder(this.database, order);
    if (paid !== undefined) this.onPaid(paid);
    return this.find(order.id);
  }

  recordReturn(paymentId: string, returned: PaymentReturn, now: Date) {
    return recordReturn(this.database, paymentId, returned, now);
  }

  returnByHand<Refusal>(
    id: OrderId,
    now: Date,
    decide: (order: Order, returns: readonly PaymentReturn[]) => Result<PaymentReturn, Refusal>,
  ): Promise<Result<Order, Refusal>> {
    return returnByHand(this.database, id, now, decide);
  }

  async returns(id: OrderId): Promise<PaymentReturn[]> {
    const order = await this.find(id);
    return order === undefined ? [] : returnsOf(this.database.sql, order);
  }
}
