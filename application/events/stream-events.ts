import type { AccountId, TaskId } from "../../domain/ids.js";
import { isInProgress } from "../../domain/tasks/task.js";
import type { EventSignals } from "../ports/signals.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";
import type { EventStore, StoredEvent } from "../ports/stores/webhook-stores.js";

const PAGE_SIZE = 100;

type Ports = {
  readonly events: EventStore;
  readonly tasks: Pick<TaskStore, "find">;
  readonly signals: Pick<EventSignals, "next">;
};

/**
 * The events of an account in their order, each once, as they happen: those after the number `after`, or without it,
 * those from now on. After a number that no event has yet, as after a backup was restored, all that are kept. With a
 * task only its events, without `after` from its first one on; then it ends when the task can have no more events, and
 * returns at once if there are none. Ends when `signal` is aborted.
 *
 * Resolves when the position is known: what happens from then on is in the events. Throws if the store is unreachable.
 * Reads the store when a signal arrives; in between it costs nothing. Events of other instances:
 * background/watch-changes.ts.
 */
export const streamEvents =
  (ports: Ports) =>
  async (
    account: AccountId,
    task: TaskId | undefined,
    after: number | undefined,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<StoredEvent, void>> => {
    const { events } = ports;
    const fromFirst = after === 0 || (after === undefined && task !== undefined);
    const latest = fromFirst ? 0 : ((await events.latest([account])).get(account) ?? 0);
    const start = after === undefined || after <= latest ? (after ?? latest) : 0;
    return eventsAfter(ports, { account, task, start }, signal);
  };

async function* eventsAfter(
  { events, tasks, signals }: Ports,
  { account, task, start }: { readonly account: AccountId; readonly task: TaskId | undefined; readonly start: number },
  signal: AbortSignal,
): AsyncGenerator<StoredEvent, void> {
  let last = start;
  while (!signal.aborted) {
    const woken = new AbortController();
    try {
      // Listens before it reads, so that it does not miss an event between the two.
      const next = signals.next(account, AbortSignal.any([signal, woken.signal]));
      const ended = task !== undefined && (await hasEnded(tasks, account, task));
      const page = await events.after(account, last, PAGE_SIZE, task);
      for (const stored of page) {
        if (signal.aborted) return;
        yield stored;
        last = stored.event.number;
      }
      if (page.length === PAGE_SIZE) continue;
      if (ended) return;
      await next;
    } finally {
      woken.abort(); // ends the listener, also if the store throws
    }
  }
}

/** A task that is deleted has no more events either. */
const hasEnded = async (tasks: Ports["tasks"], account: AccountId, id: TaskId): Promise<boolean> => {
  const task = await tasks.find(id, account);
  return task === undefined || !isInProgress(task);
};
