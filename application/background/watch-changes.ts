import type { AccountId } from "../../domain/ids.js";
import type { HeldKeys } from "../accounts/api-requests.js";
import type { EventSignals, TaskSignals } from "../ports/signals.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";
import type { EventStore } from "../ports/stores/webhook-stores.js";

type WatchStreamsPorts = {
  readonly events: Pick<EventStore, "watch">;
  readonly signals: Pick<EventSignals, "waitedFor" | "wake">;
  readonly heldKeys: Pick<HeldKeys, "ids" | "endUnusable">;
};

/**
 * Wakes the streams of accounts that have a new event since the last call, for events of other instances. Ends the
 * requests of unusable API keys. Makes one statement for all streams and waits of the process, and none without them.
 */
export const watchStreams = ({ events, signals, heldKeys }: WatchStreamsPorts) => {
  let seen: ReadonlyMap<AccountId, number> = new Map();
  return async (): Promise<void> => {
    const [accounts, keys] = [signals.waitedFor(), heldKeys.ids()];
    if (accounts.length === 0 && keys.length === 0) {
      seen = new Map();
      return;
    }
    const { latest, liveKeys } = await events.watch(accounts, keys);
    heldKeys.endUnusable(keys, liveKeys); // first, so that they do not get the new event
    for (const [account, number] of latest) if (seen.get(account) !== number) signals.wake(account);
    seen = latest;
  };
};

type WatchWaitedTasksPorts = {
  readonly tasks: Pick<TaskStore, "ended">;
  readonly signals: Pick<TaskSignals, "waitedFor" | "wake">;
};

/**
 * Wakes the waits for tasks that another instance has ended: that instance sends no signal here. Makes one statement
 * for all waits of the process, and none without waits. Not needed with a single instance.
 */
export const watchWaitedTasks =
  ({ tasks, signals }: WatchWaitedTasksPorts) =>
  async (): Promise<void> => {
    const ids = signals.waitedFor();
    if (ids.length === 0) return;
    for (const id of await tasks.ended(ids)) signals.wake(id);
  };
