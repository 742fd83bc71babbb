import type { AccountId, TaskId } from "../../domain/ids.js";
import { isInProgress } from "../../domain/tasks/task.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";
import type { StoredEvent } from "../ports/stores/webhook-stores.js";

const PAGE_SIZE = 100;

/** Live events. */
export function eventStreams(ports: Pick<ApplicationPorts, "events" | "eventSignals"> & { readonly tasks: TaskStore }) {
  return {
    /**
     * Live events of an account, in order, each once. They start after the event number `after`; without it, now. After
     * a number above all events (a restored backup), they start at the oldest event. With `task`: only its events,
     * without `after` from its first one; ends after its last possible event, which may be at once. Ends when `signal`
     * is aborted.
     *
     * Resolves when the start position is known: later events are not missed. Throws if the store is unreachable. Reads
     * the store only when a signal arrives. Events of other instances: background/watch-changes.ts.
     */
    async stream(
      account: AccountId,
      task: TaskId | undefined,
      after: number | undefined,
      signal: AbortSignal,
    ): Promise<AsyncGenerator<StoredEvent, void>> {
      const fromFirst = after === undefined && task !== undefined;
      const latest = fromFirst ? 0 : ((await ports.events.latest([account])).get(account) ?? 0);
      const start = after === undefined || after <= latest ? (after ?? latest) : 0;
      return eventsAfter(ports, { account, task, start }, signal);
    },
  };
}

async function* eventsAfter(
  { events, tasks, eventSignals }: Pick<ApplicationPorts, "events" | "eventSignals"> & { readonly tasks: TaskStore },
  { account, task, start }: { readonly account: AccountId; readonly task: TaskId | undefined; readonly start: number },
  signal: AbortSignal,
): AsyncGenerator<StoredEvent, void> {
  let last = start;
  while (!signal.aborted) {
    const woken = new AbortController();
    try {
      // Listens before it reads, so that it does not miss an event between the two.
      const next = eventSignals.next(account, AbortSignal.any([signal, woken.signal]));
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

/** A deleted task has no more events either. */
async function hasEnded(tasks: TaskStore, account: AccountId, id: TaskId): Promise<boolean> {
  const task = await tasks.find(id, account);
  return task === undefined || !isInProgress(task);
}
