import { err, ok, type Result } from "neverthrow";
import type { AdjustmentReason, AdjustmentReference } from "../../domain/credits/adjustment.js";
import { type Credits, credits } from "../../domain/credits/credits.js";
import { adjust } from "../../domain/credits/funds.js";
import type { LedgerEntry } from "../../domain/credits/ledger.js";
import type { Order, OrderId } from "../../domain/credits/order.js";
import { remainingManualReturn } from "../../domain/credits/payment-return.js";
import type { InsufficientCredits } from "../../domain/credits/reservation.js";
import type { AccountId } from "../../domain/ids.js";
import { type NotFound, notFound } from "../errors.js";
import type { ApplicationPorts } from "../ports/application-ports.js";

/** The reference was used for a different amount. */
type ReferenceUsed = { readonly kind: "reference_used"; readonly known: LedgerEntry };

/** The order is not paid, or only `left` of its credits can still be taken back by hand. */
type CannotRefund = { readonly kind: "not_paid" } | { readonly kind: "too_many_credits"; readonly left: number };

export function operatedCredits(ports: Pick<ApplicationPorts, "accounts" | "orders" | "operators" | "clock">) {
  const { accounts, orders, operators, clock } = ports;
  return {
    /**
     * Adds `change`, which may be negative, to the balance; with a `reference` only once. Returns the new balance.
     * Never takes more than the balance.
     */
    async adjustCredits(
      id: AccountId,
      change: number,
      reason: AdjustmentReason,
      reference?: AdjustmentReference,
    ): Promise<Result<Credits, NotFound | InsufficientCredits | ReferenceUsed>> {
      if (!(await accounts.exists(id))) return err(notFound(`There is no account ${id}.`));
      const now = clock.now();
      return operators.adjust(
        id,
        (funds, known) => {
          if (known === undefined) return adjust({ accountId: id, funds, change, reason, reference, at: now });
          return known.credits === change
            ? ok({ funds, entries: [] })
            : err({ kind: "reference_used", known } as const);
        },
        reference,
      );
    },

    /**
     * Removes `amount` credits of a paid order (default: all remaining), for money refunded by hand. Spent credits
     * become debt. Moves no money.
     */
    async refundOrder(
      id: OrderId,
      amount: number | undefined,
      reason: AdjustmentReason,
    ): Promise<Result<Order, NotFound | CannotRefund>> {
      if ((await orders.find(id)) === undefined) return err(notFound(`There is no order ${id}.`));
      const at = clock.now();
      return orders.returnByHand<CannotRefund>(id, at, (order, returns) => {
        if (order.state === "pending") return err({ kind: "not_paid" });
        const left = remainingManualReturn(order.credits, returns);
        const taken = amount ?? left;
        if (left === 0 || taken > left) return err({ kind: "too_many_credits", left });
        const returnId = `hand_${id}_${returns.length + 1}`;
        return ok({ id: returnId, kind: "operator", credits: credits(taken), reason, at });
      });
    },
  };
}
