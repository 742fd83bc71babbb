import { objectsOf } from "../../domain/images/storage-status.js";
import { EVENT_RETENTION_MILLISECONDS } from "../../domain/tasks/account-event.js";
import type { SucceededTask } from "../../domain/tasks/task.js";
import { TEXTS_KEPT_MILLISECONDS } from "../../domain/tasks/task-texts.js";
import { DELIVERY_PAUSE_MILLISECONDS_MAX } from "../../domain/webhooks/webhook-delivery.js";
import { eraseAccount } from "../close-account.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import { CLOCK_TOLERANCE_MILLISECONDS } from "../ports/clock.js";
import type { AccountErasure } from "../ports/stores/operator-store.js";
import type { Lease } from "../ports/stores/tasks/task-store.js";
import { type TaskWorkPorts, type WorkLimits, workOnLeases } from "./work-on-leases.js";

export type ErasePorts = TaskWorkPorts &
  Pick<ApplicationPorts, "references" | "deliveries" | "operatorLog"> & { readonly operators: AccountErasure };

/** Pause between two attempts. */
export const ERASE_PAUSE_MILLISECONDS = 10 * 60 * 1000;
/** After this time a provider's temporary copy is rarely left, so its deletion is tried only once. */
const COPY_KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;

/**
 * Deletes the remaining objects of deleted panoramas and closed accounts, such as those stored during the deletion, and
 * the provider's copies. Resolves to the number of panoramas.
 */
export function eraseDeletedPanoramas(
  ports: TaskWorkPorts,
  limits: WorkLimits,
  stopping?: AbortSignal,
): Promise<number> {
  return workOnLeases(ports, "erase", { ...limits, stopping }, (lease) => erase(ports, lease));
}

/** Resolves to the time of the next attempt, if there is one. */
async function erase(ports: TaskWorkPorts, lease: Lease<SucceededTask>): Promise<Date | undefined> {
  const { tasks, clock } = ports;
  const { task } = lease;
  const objectsAreLeft = !(await eraseObjects(ports, task));
  const copyIsLeft = !(await eraseCopy(ports, task));
  const now = clock.now().getTime();
  const copyMayBeThere = now - task.succeededAt.getTime() < COPY_KEPT_MILLISECONDS;
  if (objectsAreLeft || (copyIsLeft && copyMayBeThere)) return new Date(now + ERASE_PAUSE_MILLISECONDS);
  await tasks.move(lease, task, undefined);
  return undefined;
}

/** True if no object is left. */
async function eraseObjects({ storage, reporter }: TaskWorkPorts, { id, image }: SucceededTask): Promise<boolean> {
  for (const name of objectsOf(image)) {
    const deleted = await storage.delete(name);
    if (deleted.isOk()) continue;
    reporter.report({ kind: "work_failed", work: "erase", taskId: id, error: deleted.error.reason });
    return false;
  }
  return true;
}

/** Deletes the provider's copy, and reports a failure. True if no copy is left. */
export async function eraseCopy(
  { provider, reporter }: TaskWorkPorts,
  { id, upstreamTaskId }: SucceededTask,
): Promise<boolean> {
  const discarded = await provider.discard?.(upstreamTaskId);
  if (discarded === undefined || discarded.isOk()) return true;
  const detail = `the provider's copy of an image is not deleted: ${discarded.error.reason}`;
  reporter.report({ kind: "provider_unavailable", taskId: id, detail });
  return false;
}

/** Deletes old events, texts and operator actions, and data of closed accounts. */
export async function forget(ports: ErasePorts, keptDays: number, stopping?: AbortSignal): Promise<void> {
  await deleteOldEvents(ports, stopping);
  await eraseTexts(ports, stopping);
  await forgetOperatorActions(ports, keptDays, stopping);
  await eraseClosedAccounts(ports, stopping); // last: an error there must not stop the other steps
}

const EVENTS_PER_STATEMENT = 1_000;

/**
 * Deletes events that are older than 30 days, with their deliveries, and corrects due times that were written before
 * the clock was set back. Resolves to the number of deleted events.
 */
export async function deleteOldEvents({ deliveries, clock }: ErasePorts, stopping?: AbortSignal): Promise<number> {
  const now = clock.now();
  const latest = now.getTime() + DELIVERY_PAUSE_MILLISECONDS_MAX + CLOCK_TOLERANCE_MILLISECONDS;
  await deliveries.bringForward(new Date(latest), now);
  const before = new Date(now.getTime() - EVENT_RETENTION_MILLISECONDS);
  return inSteps(EVENTS_PER_STATEMENT, (limit) => deliveries.deleteEvents(before, limit), stopping);
}

/** Repeats a statement until it has deleted fewer than `limit` rows. Resolves to their number. */
async function inSteps(
  limit: number,
  deleteRows: (limit: number) => Promise<number>,
  stopping: AbortSignal | undefined,
): Promise<number> {
  for (let all = 0; ; ) {
    const deleted = await deleteRows(limit);
    all += deleted;
    if (deleted < limit || stopping?.aborted === true) return all;
  }
}

const TASKS_PER_STATEMENT = 100;
/** Maximum statements per run, so that many old tasks do not delay other work. The next run continues. */
const STATEMENTS_MAX = 50;

/**
 * Erases prompt, image URLs and metadata of tasks that failed or were deleted a week ago. Resolves to the number of
 * tasks.
 */
export async function eraseTexts({ tasks, clock }: ErasePorts, stopping?: AbortSignal): Promise<number> {
  const now = clock.now();
  const before = new Date(now.getTime() - TEXTS_KEPT_MILLISECONDS);
  let all = 0;
  for (let statement = 0; statement < STATEMENTS_MAX && stopping?.aborted !== true; statement += 1) {
    const erased = await tasks.eraseTexts(before, TASKS_PER_STATEMENT, now);
    all += erased;
    if (erased < TASKS_PER_STATEMENT) break;
  }
  return all;
}

const ACTIONS_PER_STATEMENT = 500;

/** Deletes old actions from the operator log, not those that are still running. Resolves to their number. */
export async function forgetOperatorActions(
  { operatorLog, clock }: ErasePorts,
  keptDays: number,
  stopping?: AbortSignal,
): Promise<number> {
  const before = new Date(clock.now().getTime() - keptDays * 24 * 60 * 60 * 1000);
  return inSteps(ACTIONS_PER_STATEMENT, (limit) => operatorLog.deleteBefore(before, limit), stopping);
}

/** Maximum accounts per run: an account may have many tasks. */
const ACCOUNTS_MAX = 10;

/**
 * Finishes interrupted account deletions. The owner cannot repeat them: the login no longer works. Resolves to the
 * number of accounts.
 */
export async function eraseClosedAccounts(ports: ErasePorts, stopping?: AbortSignal): Promise<number> {
  const closed = await ports.operators.closedNotErased(ACCOUNTS_MAX);
  const errors: unknown[] = [];
  for (const id of closed) {
    if (stopping?.aborted === true) break;
    await eraseAccount(ports, id).catch((error: unknown) => errors.push(error)); // the others are still erased
  }
  if (errors.length > 0) throw errors[0];
  return closed.length;
}

/** Retention of unused reference images, and lease on a deletable object. */
type ReferenceRetention = {
  /** Time until an unused uploaded image is deleted. */
  readonly retentionMilliseconds: number;
  /** Time after which a deletion is repeated, if it failed or its instance was killed. */
  readonly leaseMilliseconds: number;
};

/** Names per statement. */
const BATCH = 100;

/**
 * Deletes expired unused uploads, and uploads whose last task was deleted. Safe on any number of instances and at any
 * interruption: a deletable name is never used again (ports/stores/reference-store.ts), so an object may be deleted
 * twice or late. Resolves to the number of deleted objects.
 */
export async function deleteExpiredReferences(
  { references, storage, clock, reporter }: ErasePorts,
  { retentionMilliseconds, leaseMilliseconds }: ReferenceRetention,
  stopping?: AbortSignal,
): Promise<number> {
  const isStopping = () => stopping?.aborted === true;
  const after = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds);
  let looked = BATCH;
  while (looked === BATCH && !isStopping()) {
    looked = await references.expire(after(-retentionMilliseconds), clock.now(), BATCH);
  }
  let deleted = 0;
  let claimed = BATCH;
  while (claimed === BATCH && !isStopping()) {
    const names = await references.claimDeletable(clock.now(), after(leaseMilliseconds), BATCH);
    claimed = names.length;
    for (const name of names) {
      if (isStopping()) break;
      if ((await storage.delete(name)).isErr()) continue; // tried again after the lease
      await references.forget(name);
      deleted += 1;
    }
  }
  if (deleted > 0) reporter.report({ kind: "images_expired", count: deleted });
  return deleted;
}
