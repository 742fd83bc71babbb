import { sumOf } from "../../domain/credits/ledger.js";
import { audit } from "../../domain/credits/ledger-audit.js";
import { CREDIT_PACKS } from "../../domain/credits/order.js";
import type { TaskId } from "../../domain/ids.js";
import { thumbnailNameOf } from "../../domain/images/object-name.js";
import { isActive, type Task } from "../../domain/tasks/task.js";
import type { Surroundings } from "./surroundings.js";

/** Why a creation can be sent again with its key. */
const REFUSED = ["refused", "content_refused", "provider_unavailable", "submission_unknown"];

const isRefused = (task: Task): boolean => task.state === "failed" && REFUSED.includes(task.reason);

/** How a task has ended, such as `succeeded saved` or `failed refused hidden`. */
const endOf = (task: Task, hidden: boolean): string => {
  const detail = task.state === "succeeded" ? task.image.status : task.state === "failed" ? task.reason : "";
  return `${task.state} ${detail}${hidden ? " hidden" : ""}`;
};

/** Counts of everything that must be empty when all work is done: rows that are due or leased. */
const DUE = `select
  (select count(*) from task where due_at is not null) as tasks,
  (select count(*) from task where state not in ('succeeded', 'failed')) as tasks_in_processing,
  (select count(*) from webhook_delivery where due_at is not null or state = 'pending') as deliveries,
  (select count(*) from reference_image where delete_at is not null) as objects_to_delete`;

/** The work that is not done yet, one sentence for each kind. */
export const workLeft = async ({ database }: Surroundings): Promise<string[]> => {
  const [counts = {}] = await database.sql(DUE);
  return Object.entries(counts).flatMap(([what, count]) =>
    Number(count) > 0 ? [`${String(count)} ${what} are left`] : [],
  );
};

/**
 * What is wrong when all work is done, one sentence each, and how the tasks have ended, oldest first. `unannounced`:
 * ends that waiting clients of this process were not told; after a kill that is right.
 */
export const inspect = async (
  around: Surroundings,
): Promise<{ readonly findings: string[]; readonly ends: readonly string[]; readonly unannounced: string[] }> => {
  const { stores, database, reporter, underWay } = around;
  const findings = [...(await workLeft(around)), ...underWay.twice, ...around.unreadable];
  const tasks: Task[] = [];
  for await (const { standing, entries, tasks: own } of stores.ledger.all()) {
    findings.push(...audit(standing, entries, own));
    if (standing.activeTasks !== 0) findings.push(`${standing.activeTasks} tasks are still counted as active`);
    tasks.push(...own);
    const { remaining, reserved, spent } = await stores.ledger.totals(standing.accountId);
    const bought = sumOf(entries.filter(({ kind }) => /^(purchase|payment_)/.test(kind)));
    if (remaining + reserved + spent !== bought)
      findings.push(`the totals do not add up to the ${bought} bought credits`);
  }
  tasks.sort((a, b) => (a.id < b.id ? -1 : 1));
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const hidden = new Set((await database.sql("select id from task where deleted_at is not null")).map(({ id }) => id));

  for (const task of tasks) findings.push(...providerFindings(around, task));
  findings.push(...(await eventFindings(around, tasks, hidden)));
  findings.push(...objectFindings(around, tasks, hidden));
  const [unreleased] = await database.sql(UNRELEASED);
  if (Number(unreleased?.n) > 0) findings.push("a task that has failed or is deleted still uses reference images");
  findings.push(...answerFindings(around, byId));
  findings.push(...(await spendingFindings(around, tasks)));
  for (const [id, known] of around.packs) {
    if (!known.has("paid") || !known.has("refunded")) continue;
    const expected = CREDIT_PACKS[0].credits / (known.has("disputed") && !known.has("won") ? 1 : 2);
    const order = await stores.orders.find(id);
    const takenBack = order?.state === "pending" ? undefined : order?.takenBack;
    if (takenBack !== expected) findings.push(`${takenBack} credits of order ${id} are taken back`);
  }
  for (const { error, work } of reporter.of("work_failed")) {
    if (!isInjected(error)) findings.push(`the work ${work} failed: ${String(error)}`);
  }
  const unannounced = tasks
    .filter((task) => !around.announced.has(task.id))
    .map((task) => `no waiting client was told that task ${task.id} is ${task.state}`);
  return { findings, ends: tasks.map((task) => endOf(task, hidden.has(task.id))), unannounced };
};

const UNRELEASED = `select count(*) as n from task_reference join task on task.id = task_reference.task_id
  where state = 'failed' or deleted_at is not null`;

/** PostgreSQL ends a transaction after 4 s without a statement: this process was paused, for example by its machine. */
const PAUSED = "25P03";

/** A failure that a fault has caused, or a pause of this process. */
export const isInjected = (error: unknown): boolean =>
  error === "injected" ||
  (error instanceof Error &&
    (error.name === "InjectedError" || isInjected(error.cause) || ("code" in error && error.code === PAUSED)));

const providerFindings = ({ providers }: Surroundings, task: Task): string[] => {
  const started = providers.reduce((sum, provider) => sum + provider.startedFor(task.id), 0);
  if (started > 1) return [`task ${task.id} was started ${started} times`];
  if (task.state === "succeeded" && started === 0) return [`task ${task.id} succeeded and was never started`];
  if (task.state !== "failed" || started === 0) return [];
  const { reason } = task;
  if (reason === "refused" || reason === "never_started")
    return [`task ${task.id} failed as ${reason}, but was started`];
  if (reason !== "canceled" || providers.some((provider) => provider.wasCanceled(task.id))) return [];
  return [`task ${task.id} is canceled, but not at the provider`];
};

/**
 * Each end of a task is one event, in order and without gaps, and each endpoint has received it. The events of a
 * deleted panorama are deleted, unless deliveries of them were pending. No others may be missing.
 */
const eventFindings = async (
  { database, stores, owner, sender }: Surroundings,
  tasks: readonly Task[],
  hidden: ReadonlySet<unknown>,
): Promise<string[]> => {
  const findings: string[] = [];
  const rows = await database.sql("select number, type, task_id from event order by number");
  const [account] = await database.sql("select last_event from account where id = ?", [owner]);
  const missing = Number(account?.last_event) - rows.length;
  if (missing < 0 || (missing > 0 && hidden.size === 0)) findings.push(`${missing} events are missing`);
  for (const task of tasks) {
    if (hidden.has(task.id)) continue;
    const types = rows.filter(({ task_id }) => task_id === task.id).map(({ type }) => type);
    const isPermanent = task.state === "succeeded" && task.image.status.startsWith("saved");
    const expected = isActive(task) ? [] : [`panorama.${task.state}`, ...(isPermanent ? ["panorama.saved"] : [])];
    if (types.join() !== expected.join())
      findings.push(`task ${task.id} is ${task.state} with events [${types.join()}]`);
  }
  for (const { event, delivery, url } of await stores.deliveries.list(owner, 1_000, undefined)) {
    const id = `evt_${owner}_${event.number.toString().padStart(10, "0")} at ${url}`;
    if (delivery.state !== "delivered") findings.push(`${event.type} is ${delivery.state} at ${url}`);
    else if (!sender.accepted.has(id)) findings.push(`${event.type} is delivered, but ${url} has not received it`);
  }
  const [counted] = await database.sql("select count(*) as n from webhook_delivery");
  if (Number(counted?.n) !== 2 * rows.length) {
    findings.push(`${rows.length} events have ${Number(counted?.n)} deliveries at two endpoints`);
  }
  return findings;
};

/** The storage has the images of saved panoramas and the references in use, and nothing else. */
const objectFindings = (
  { storage, providers, uploaded }: Surroundings,
  tasks: readonly Task[],
  hidden: ReadonlySet<unknown>,
): string[] => {
  const findings: string[] = [];
  const expected = new Set<string>();
  for (const task of tasks) {
    if (task.state !== "succeeded") continue;
    const wasDiscarded = providers.some(({ discarded, name }) =>
      discarded.some((id) => `${name}:${id}` === task.upstreamTaskId),
    );
    if (wasDiscarded && !hidden.has(task.id)) findings.push(`the provider's copy of task ${task.id} is discarded`);
    if (hidden.has(task.id)) {
      if (!wasDiscarded) findings.push(`the provider's copy of deleted task ${task.id} is left`);
      continue;
    }
    if (task.image.status === "saved" || task.image.status === "saved-no-thumb") expected.add(task.image.imageName);
    if (task.image.status === "saved") expected.add(thumbnailNameOf(task.image.imageName));
  }
  for (const name of expected) if (!storage.objects.has(name as never)) findings.push(`the object ${name} is missing`);
  for (const name of storage.objects.keys()) {
    const isUpload = uploaded.some((url) => url.endsWith(name));
    if (!expected.has(name) && !isUpload) findings.push(`nothing refers to the object ${name}`);
  }
  return findings;
};

/** What clients were told is true, and no key has charged twice. */
const answerFindings = ({ creations, toldFailed }: Surroundings, tasks: ReadonlyMap<TaskId, Task>): string[] => {
  const findings: string[] = [];
  for (const key of new Set(creations.map((creation) => creation.key))) {
    const own = creations.filter((creation) => creation.key === key);
    const charged = own.filter(({ taskId }) => {
      const task = tasks.get(taskId);
      return task !== undefined && !isRefused(task);
    });
    if (charged.length > 1) findings.push(`key ${key} has opened ${charged.length} tasks`);
    const told = new Set(own.flatMap(({ answer }) => (typeof answer === "object" ? [answer.id] : [])));
    if (told.size > 1) findings.push(`clients were told ${told.size} tasks for key ${key}`);
    for (const id of told) if (!tasks.has(id)) findings.push(`a client was told of task ${id}, which does not exist`);
  }
  for (const { taskId, answer } of creations) {
    const task = tasks.get(taskId);
    if (typeof answer !== "string" || task === undefined) continue;
    if (answer !== "upstream_error" || !isRefused(task)) {
      findings.push(`a client was told ${answer}, but task ${taskId} is ${task.state}`);
    }
  }
  for (const id of toldFailed) {
    const state = tasks.get(id)?.state;
    if (state !== "failed") findings.push(`a client was told that task ${id} has failed, but it is ${state}`);
  }
  return findings;
};

/** What the key has spent is the sum of its tasks that are not refunded. */
const spendingFindings = async ({ database, key }: Surroundings, tasks: readonly Task[]): Promise<string[]> => {
  const expected = tasks
    .filter(({ apiKeyId, state }) => apiKeyId === key.id && state !== "failed")
    .reduce((sum, { reservation }) => sum + reservation.credits, 0);
  const [row] = await database.sql("select sum(credits) as n from key_spending where api_key_id = ?", [key.id]);
  const spent = Number(row?.n ?? 0);
  return spent === expected ? [] : [`the key has spent ${spent}, but its tasks cost ${expected}`];
};
