import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";
import { type OperatorReason, parseReason } from "./withhold-panorama.js";

type Ports = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly operators: Pick<OperatorStore, "suspend">;
  readonly clock: Pick<Clock, "now">;
};

/** For the operator: suspends an account (domain/accounts/account.ts), or resumes it without a reason. */
export const suspendAccount =
  ({ accounts, operators, clock }: Ports) =>
  async (id: AccountId, given: OperatorReason | undefined): Promise<Result<void, NotFound | InvalidRequest>> => {
    const parsed = given === undefined ? ok(undefined) : parseReason(given);
    if (parsed.isErr()) return err(parsed.error);
    if (!(await accounts.exists(id))) return err(notFound(`There is no account ${id}.`));
    await operators.suspend(id, parsed.value && { at: clock.now(), reason: parsed.value.reason });
    return ok(undefined);
  };
