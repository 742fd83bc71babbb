import type { Credits } from "../credits/credits.js";
import type { AccountId, TaskId } from "../ids.js";
import { isPermanent } from "../images/storage-status.js";
import { type FailedTask, isActive, type SucceededTask, type Task } from "./task.js";

/** All events of an account, by their names on the wire. */
export const EVENT_TYPES = ["panorama.succeeded", "panorama.failed", "panorama.saved", "credits.low"] as const;
/** One of `EVENT_TYPES`. */
export type EventType = (typeof EVENT_TYPES)[number];
export type TaskEventType = Exclude<EventType, "credits.low">;

/** An event for webhooks and streams. `number`: 1, 2, 3 … per account, without gaps, in the order of the commits. */
export type AccountEvent = { readonly accountId: AccountId; readonly number: number; readonly at: Date } & (
  | { readonly type: TaskEventType; readonly taskId: TaskId }
  | { readonly type: "credits.low"; readonly remainingCredits: Credits }
);

/** An event that has no number yet. */
export type NewEvent = AccountEvent extends infer Event
  ? Event extends AccountEvent
    ? Omit<Event, "number">
    : never
  : never;

/**
 * The event of a transition. A task has each type at most once. `now`: the time of an event without a time in the task.
 */
export const taskEventOf = (before: Task, next: Task, now: Date): NewEvent | undefined => {
  const { id: taskId, accountId } = next;
  if (isActive(before)) {
    if (isActive(next)) return undefined;
    return { type: `panorama.${next.state}`, accountId, taskId, at: endedAtOf(next) };
  }
  const wasPermanent = before.state === "succeeded" && isPermanent(before.image);
  const isSaved = next.state === "succeeded" && isPermanent(next.image) && !wasPermanent;
  return isSaved ? { type: "panorama.saved", accountId, taskId, at: now } : undefined;
};

/** The end time of a task. */
export const endedAtOf = (task: SucceededTask | FailedTask): Date =>
  task.state === "failed" ? task.failedAt : task.succeededAt;

/** Events, and deliveries of them, are deleted after this time. */
export const EVENT_RETENTION_MILLISECONDS = 30 * 24 * 60 * 60 * 1000;

const NUMBER_DIGITS = 10;

/** The `webhook-id`: the same for every attempt, and in the order of the events of one account. */
export const eventIdOf = ({ accountId, number }: Pick<AccountEvent, "accountId" | "number">): string =>
  `evt_${accountId}_${number.toString().padStart(NUMBER_DIGITS, "0")}`;

/** Parses the event number in an id of an event of this account; `undefined` for any other text. */
export const parseEventNumber = (text: string, accountId: AccountId): number | undefined => {
  const prefix = `evt_${accountId}_`;
  const digits = text.slice(prefix.length);
  return text.startsWith(prefix) && /^\d{10}$/.test(digits) ? Number(digits) : undefined;
};
