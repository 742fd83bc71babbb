import { err, ok, type Result } from "neverthrow";
import type { Credits } from "../../domain/credits/credits.js";
import {
  type AdjustmentReason,
  type AdjustmentReference,
  adjust,
  type LedgerEntry,
} from "../../domain/credits/ledger.js";
import type { InsufficientCredits } from "../../domain/credits/reservation.js";
import type { AccountId } from "../../domain/ids.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";

type Ports = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly operators: Pick<OperatorStore, "adjust">;
  readonly clock: Pick<Clock, "now">;
};

/** The reference names an adjustment of other credits. */
export type ReferenceUsed = { readonly kind: "reference_used"; readonly known: LedgerEntry };

/**
 * For the operator: gives credits to an account, or takes them if `change` is negative; once for a `reference`, without
 * one each time that it is called. Returns the new balance. Never takes more than the balance.
 */
export const adjustCredits =
  ({ accounts, operators, clock }: Ports) =>
  async (
    id: AccountId,
    change: number,
    reason: AdjustmentReason,
    reference?: AdjustmentReference,
  ): Promise<Result<Credits, NotFound | InsufficientCredits | ReferenceUsed>> => {
    if (!(await accounts.exists(id))) return err(notFound(`There is no account ${id}.`));
    const now = clock.now();
    return operators.adjust(
      id,
      (funds, known) => {
        if (known === undefined) return adjust({ accountId: id, funds, change, reason, reference, at: now });
        return known.credits === change ? ok({ funds, entries: [] }) : err({ kind: "reference_used", known } as const);
      },
      reference,
    );
  };
