import type { Meter, TaskHold } from "../../../application/credits/meter-types.js";
import { definePolicy } from "../../../domain/credits/policy.js";
import type { Reservation } from "../../../domain/credits/reservation.js";
import { accountId } from "../../../domain/ids.js";

/** The policy, the product and the account of the suite. */
export const policy = definePolicy({
  prices: { draft: 1, print: 3 },
  rates: { render: { limit: 4, windowSeconds: 10 } },
  activeMax: 2,
  idempotencyHours: 1,
  holdSeconds: 20,
});
export type Product = Meter<"draft" | "print", "render">;
export const acme = accountId("acme");

/** Expected hold, by the words of the documentation. */
export type ModelHold = {
  readonly handle: TaskHold;
  readonly request: string;
  readonly heldAt: number;
  expiresAt: number;
  state: Reservation["state"];
  captured: number;
  refundedLater: number;
};

/** What a meter with this policy must answer. */
export class MeterModel {
  readonly orders = new Set<number>();
  readonly holds: ModelHold[] = [];
  readonly byKey = new Map<string, ModelHold>();
  /** Purpose of a refund or an adjustment with this key. */
  readonly corrections = new Map<string, { readonly of: ModelHold | "adjust"; readonly credits: number }>();
  adjusted = 0;
  requests: number[] = [];

  get balance(): number {
    const bought = [...this.orders].reduce((sum, order) => sum + amountOf(order), 0);
    return bought + this.adjusted - this.holds.reduce((sum, hold) => sum + keptBy(hold), 0);
  }

  get active(): readonly ModelHold[] {
    return this.holds.filter(({ state }) => state === "held");
  }

  expire(now: number): void {
    for (const hold of this.holds) if (hold.state === "held" && hold.expiresAt <= now) hold.state = "refunded";
  }
}

/** The credits that a hold keeps from the balance. */
export const keptBy = ({ state, handle, captured, refundedLater }: ModelHold): number => {
  if (state === "held") return handle.credits;
  return state === "captured" ? captured - refundedLater : 0;
};

/** The credits of the n-th order. */
export const amountOf = (order: number): number => 2 + 3 * order;
