import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account-id.js";
import type { Email } from "../../domain/accounts/account.js";
import type { AdjustmentReason } from "../../domain/credits/ledger.js";
import type { TaskId } from "../../domain/task-id.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";

type Ports = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly operators: Pick<OperatorStore, "close" | "eraseTasks" | "eraseEvents">;
  readonly clock: Pick<Clock, "now">;
};

/** The account has tasks in processing. Cancel them, or wait until they have ended. */
export type TasksActive = { readonly kind: "tasks_active"; readonly activeTasks: number };

const PAGE_SIZE = 500;

const CLOSED = "The account was closed" as AdjustmentReason;

/**
 * For the operator: closes an account for good. Its address, keys, sessions, endpoints and events are deleted, what was
 * sent with its tasks is erased, and its pictures are deleted in the background. Ledger, orders and the tasks that they
 * refer to stay, without personal data; a balance that is left is taken. Refused while tasks are in processing. If it
 * is interrupted, a repeated call completes it.
 */
export const closeAccount =
  ({ accounts, operators, clock }: Ports) =>
  async (id: AccountId): Promise<Result<void, NotFound | TasksActive>> => {
    if (!(await accounts.exists(id))) return err(notFound(`There is no account ${id}.`));
    const now = clock.now();
    // The address is free again. That no balance is left also refuses a creation that was admitted before.
    const email = `closed-${id.toLowerCase()}@closed.invalid` as Email;
    const closed = await operators.close(id, email, now, ({ credits: balance, activeTasks }) => {
      if (activeTasks > 0) return err({ kind: "tasks_active", activeTasks } as const);
      return balance === 0
        ? ok(undefined)
        : ok({ kind: "adjustment", accountId: id, reason: CLOSED, credits: -balance, at: now } as const);
    });
    if (closed.isErr()) return err(closed.error);
    for (let after: TaskId | undefined; ; ) {
      after = await operators.eraseTasks(id, after, PAGE_SIZE, now);
      if (after === undefined) break;
    }
    while (await operators.eraseEvents(id, PAGE_SIZE));
    return ok(undefined);
  };
