import { err, ok, type Result } from "neverthrow";
import type { Email } from "../domain/accounts/account.js";
import type { AdjustmentReason } from "../domain/credits/adjustment.js";
import type { AccountId, TaskId } from "../domain/ids.js";
import { type NotFound, notFound, type TasksActive } from "./errors.js";
import type { ApplicationPorts } from "./ports/application-ports.js";
import type { Clock } from "./ports/clock.js";
import type { AccountErasure } from "./ports/stores/operator-store.js";

const PAGE_SIZE = 500;

const CLOSED = "The account was closed" as AdjustmentReason;

/**
 * Permanently closes an account. Deletes its address, keys, sessions, endpoints and events, erases the texts of its
 * tasks, and deletes its pictures in the background. Ledger, orders and their tasks stay, without personal data; a
 * remaining balance is removed, a debt stays. Refused while tasks are in processing. If interrupted, background work
 * (background/erase.ts) or another call finishes it.
 */
export async function closeAccount(
  ports: Pick<ApplicationPorts, "accounts" | "operators" | "clock">,
  id: AccountId,
): Promise<Result<void, NotFound | TasksActive>> {
  const { accounts, operators, clock } = ports;
  if (!(await accounts.exists(id))) return err(notFound(`There is no account ${id}.`));
  const now = clock.now();
  // Frees the address. The balance of 0 also refuses a creation that was admitted before.
  const email = `closed-${id.toLowerCase()}@closed.invalid` as Email;
  const closed = await operators.close(id, email, now, ({ credits: balance, activeTasks }) => {
    if (activeTasks > 0) return err({ kind: "tasks_active", activeTasks } as const);
    return balance === 0
      ? ok(undefined)
      : ok({ kind: "adjustment", accountId: id, reason: CLOSED, credits: -balance, at: now } as const);
  });
  if (closed.isErr()) return err(closed.error);
  await eraseAccount(ports, id);
  return ok(undefined);
}

/** Erases the remaining data of a closed account. May be repeated. */
export async function eraseAccount(
  { operators, clock }: { readonly operators: AccountErasure; readonly clock: Clock },
  id: AccountId,
): Promise<void> {
  const now = clock.now();
  for (let after: TaskId | undefined; ; ) {
    after = await operators.eraseTasks(id, after, PAGE_SIZE, now);
    if (after === undefined) break;
  }
  while (await operators.eraseEvents(id, PAGE_SIZE));
  await operators.recordErased(id, now);
}
