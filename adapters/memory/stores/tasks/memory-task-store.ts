import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../../application/errors.js";
import type {
  ImageAddress,
  IsWithheld,
  StaleTask,
  TaskOpening,
  TaskStore,
} from "../../../../application/ports/stores/tasks/task-store.js";
import { deletedReplay, sameRequest } from "../../../../domain/credits/idempotency.js";
import { reservationEntry } from "../../../../domain/credits/ledger.js";
import type { AccountId, TaskId } from "../../../../domain/ids.js";
import { type ObjectName, panoramaOf } from "../../../../domain/images/object-name.js";
import { requireStored } from "../../../../domain/images/reference-image.js";
import { isKept } from "../../../../domain/images/storage-status.js";
import type { InvalidRequest } from "../../../../domain/invalid-request.js";
import { PANORAMA_POLICY } from "../../../../domain/panorama-policy.js";
import type { CreationRequest } from "../../../../domain/tasks/creation-request.js";
import type { DeletedBy, Withheld } from "../../../../domain/tasks/out-of-sight.js";
import { nextTurn, placeOfNewTask, type QueuePosition } from "../../../../domain/tasks/queue.js";
import {
  isActive,
  placeOf,
  type ReservedTask,
  type SubmittedTask,
  type Task,
  wantCancel,
  withImage,
} from "../../../../domain/tasks/task.js";
import type { Visibility } from "../../../../domain/tasks/visibility.js";
import type { MemoryDatabase } from "../memory-database.js";
import { moveMemoryTask } from "./memory-task-moves.js";
import { type MemoryTaskContext, queueOf, rowOf, submissionsOf, waitingOf } from "./memory-task-rows.js";
import { makeDueNow } from "./memory-task-work.js";

/** Tasks in memory. Every method runs without an `await`, so it is atomic. */
export const memoryTaskStore = (context: MemoryTaskContext): TaskStore => {
  const { database } = context;
  return {
    open: async (opening) => openRow(database, opening),
    move: async (current, next, dueAt) => moveMemoryTask(context, { current, next, dueAt }),
    find: async (id, owner) => database.shown(id, owner)?.task,
    findBySlug: async (slug) =>
      [...database.tasks.values()].find(({ task, hidden }) => task.slug === slug && !hidden)?.task,
    ended: async (ids) =>
      ids.filter((id) => {
        const stored = database.tasks.get(id);
        return stored !== undefined && !isActive(stored.task);
      }),
    setVisibility: async (id, owner, visibility) => setVisibility(database, id, owner, visibility),
    recordCancelWish: async (task, now) => recordCancelWish(database, task, now),
    withhold: async (id, withheld, nextName) => withhold(database, id, withheld, nextName),
    withholdAll: async (owner, withheld, limit, nextName) => {
      const shown = database
        .tasksOf(owner)
        .filter(({ id, request }) => request.visibility === "public" && !rowOf(database, id).hidden)
        .slice(0, limit);
      for (const { id } of shown) withhold(database, id, withheld, nextName);
      return shown.length;
    },
    isWithheldImage: async (image) =>
      [...database.tasks.values()].some(({ task, withheld }) => isOf(task, image) && withheld !== undefined),
    hide: async (id, owner, now, by) => hide(database, { id, owner }, now, by),
    wantedImage: async (id) => {
      const stored = database.tasks.get(id);
      if (stored?.task.state !== "succeeded" || stored.task.image.status === "expired") return undefined;
      return stored.hidden ? undefined : stored.task.image;
    },
    isHidden: async (id, owner) => {
      const stored = database.tasks.get(id);
      return stored?.task.accountId === owner && stored.hidden;
    },
  };
};

const openRow = <Refusal>(
  database: MemoryDatabase,
  opening: TaskOpening<Refusal>,
): Result<{ task: Task; replayed: boolean }, Refusal | InvalidRequest> => {
  const { account, dueAt, idempotent, decide, queue, references = new Map<number, ObjectName>(), spender } = opening;
  const replay = replayOf(database, opening);
  if (replay !== undefined) return replay.map((task) => ({ task, replayed: true }));
  const { tasks, ledger } = database;
  const stored = database.account(account);
  const known = [...database.references].flatMap(([name, { deleteAt }]) => (deleteAt ? [] : [name]));
  const found = requireStored(references, new Set(known));
  if (found.isErr()) return err(found.error);
  const used = new Set(references.values());
  const place = queue && placeOfNewTask(queueOf(database), queue.places)?.name;
  const mustWait = queue !== undefined && place === undefined;
  const queuePosition = mustWait ? positionOf(database, nextTurn(queueOf(database), stored.lastTurn)) : undefined;
  const spending = spender && database.spendingOf(spender.apiKeyId, spender.now);
  return decide(stored.standing, queuePosition, spending, place).map(({ task, standing, lowBalance }) => {
    stored.lastTurn = queuePosition?.turn ?? stored.lastTurn;
    const due = task.state === "queued" && queue ? queue.dueAt : dueAt;
    tasks.set(task.id, { task, place: placeOf(task), dueAt: due, fence: 0, hidden: false });
    ledger.push(reservationEntry(task.reservation, task.reservedAt));
    stored.standing = standing;
    if (used.size > 0) database.taskReferences.set(task.id, used);
    database.removeUploads(({ accountId, name }) => accountId === account && used.has(name));
    if (idempotent !== undefined) {
      const { key, requestSha256 } = idempotent;
      database.idempotencyKeys.push({
        accountId: account,
        key,
        requestSha256,
        taskId: task.id,
        createdAt: task.reservedAt,
      });
    }
    if (lowBalance !== undefined) {
      const { reservedAt: at } = task;
      const event = { type: "credits.low", accountId: account, remainingCredits: lowBalance.balance, at } as const;
      database.recordEvent(event, undefined, at);
    }
    return { task, replayed: false };
  });
};

/** The task of an earlier call with the same key, or why it cannot be returned. */
const replayOf = (
  database: MemoryDatabase,
  { account, idempotent }: Pick<TaskOpening<never>, "account" | "idempotent">,
): Result<Task, InvalidRequest> | undefined => {
  if (idempotent === undefined) return undefined;
  const known = database.idempotencyKeys.find(({ accountId, key }) => accountId === account && key === idempotent.key);
  if (known === undefined) return undefined;
  const { task, hidden } = rowOf(database, known.taskId);
  return sameRequest(known.requestSha256, idempotent, PANORAMA_POLICY.idempotencyHours).andThen(() =>
    hidden ? err(deletedReplay(task.id)) : ok(task),
  );
};

const positionOf = (database: MemoryDatabase, turn: number): QueuePosition => {
  const waiting = waitingOf(database);
  return { turn, ahead: waiting.filter((task) => task.turn <= turn).length, waiting: waiting.length };
};

const setVisibility = (
  database: MemoryDatabase,
  id: TaskId,
  owner: AccountId,
  visibility: Visibility,
): Result<void, NotFound | IsWithheld> => {
  const stored = database.shown(id, owner);
  if (stored === undefined) return err(notFound(`There is no task ${id}.`));
  if (stored.withheld !== undefined) {
    if (visibility === "public") return err({ kind: "withheld", reason: stored.withheld.reason });
    stored.chosenVisibility = visibility;
    return ok(undefined);
  }
  stored.task = { ...stored.task, request: { ...stored.task.request, visibility } as CreationRequest };
  return ok(undefined);
};

const isOf = (task: Task, image: ImageAddress): boolean => {
  if ("temporaryUrl" in image) {
    return (task.state === "succeeded" ? task.image.temporaryUrl : undefined) === image.temporaryUrl;
  }
  return task.state === "succeeded" && task.image.imageName === panoramaOf(image.name);
};

const withhold = (
  database: MemoryDatabase,
  id: TaskId,
  withheld: Withheld | undefined,
  nextName: (() => ObjectName) | undefined,
): Result<void, NotFound> => {
  const stored = database.tasks.get(id);
  if (stored === undefined || stored.hidden || (withheld === undefined && stored.withheld === undefined)) {
    return err(notFound(`There is no such panorama ${id}.`));
  }
  const chosen = stored.chosenVisibility ?? stored.task.request.visibility;
  const visibility = withheld === undefined ? chosen : "private";
  stored.chosenVisibility = withheld === undefined ? undefined : chosen;
  keepWithheld(stored, withheld, visibility);
  const { task } = stored;
  if (withheld === undefined || nextName === undefined || task.state !== "succeeded") return ok(undefined);
  if (!isKept(task.image)) return ok(undefined);
  stored.task = withImage(task, { ...task.image, nextName: task.image.nextName ?? nextName() });
  stored.dueAt = withheld.at;
  return ok(undefined);
};

const keepWithheld = (
  stored: ReturnType<typeof rowOf>,
  withheld: Withheld | undefined,
  visibility: Visibility,
): void => {
  const { withheldReason: _, ...task } = stored.task;
  stored.withheld = withheld;
  const request = { ...task.request, visibility } as CreationRequest;
  stored.task = { ...task, request, ...(withheld && { withheldReason: withheld.reason }) } as Task;
};

const recordCancelWish = (
  database: MemoryDatabase,
  task: ReservedTask | SubmittedTask,
  now: Date,
): Result<void, StaleTask> => {
  const stored = database.shown(task.id, task.accountId);
  if (
    (stored?.task.state !== "reserved" && stored?.task.state !== "submitted") ||
    stored.task.state !== task.state ||
    submissionsOf(stored.task) !== submissionsOf(task) ||
    stored.task.cancelWish?.refusedAt?.getTime() !== task.cancelWish?.refusedAt?.getTime()
  ) {
    return err({ kind: "stale_task", id: task.id });
  }
  stored.task = wantCancel(stored.task, now);
  makeDueNow(database, task.id, now);
  return ok(undefined);
};

const hide = (
  database: MemoryDatabase,
  { id, owner }: { readonly id: TaskId; readonly owner: AccountId },
  now: Date,
  by: DeletedBy | undefined,
): Result<void, NotFound> => {
  const stored = database.shown(id, owner);
  if (stored === undefined) return err(notFound(`There is no task ${id}.`));
  stored.hidden = true;
  stored.hiddenAt = now;
  stored.deletedBy = by;
  stored.dueAt = stored.task.state === "succeeded" ? now : undefined;
  database.releaseReferences(id, owner, new Date(0));
  database.deleteReadEvents(id);
  return ok(undefined);
};
