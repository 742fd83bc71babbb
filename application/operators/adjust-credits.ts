import { err, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account-id.js";
import type { Credits } from "../../domain/credits/credits.js";
import { type AdjustmentReason, adjust } from "../../domain/credits/ledger.js";
import type { InsufficientCredits } from "../../domain/credits/reservation.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { AccountStore } from "../ports/stores/account-store.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";

type Ports = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly operators: Pick<OperatorStore, "adjust">;
  readonly clock: Pick<Clock, "now">;
};

/**
 * For the operator: gives credits to an account, or takes them if `change` is negative, each time that it is called.
 * Returns the new balance. Never takes more than the balance.
 */
export const adjustCredits =
  ({ accounts, operators, clock }: Ports) =>
  async (
    id: AccountId,
    change: number,
    reason: AdjustmentReason,
  ): Promise<Result<Credits, NotFound | InsufficientCredits>> => {
    if (!(await accounts.exists(id))) return err(notFound(`There is no account ${id}.`));
    const now = clock.now();
    return operators.adjust(id, (balance) => adjust({ accountId: id, balance, change, reason, at: now }));
  };
