import type { AccountId } from "../../domain/ids.js";
import type { OpenKeys } from "../accounts/api-requests.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { TaskWorkPorts } from "./work-on-leases.js";

/** Background work for the streams and waits of this process. */
export function streamWatch(
  ports: Pick<ApplicationPorts, "events" | "eventSignals"> & { readonly openKeys: OpenKeys },
) {
  const { events, eventSignals, openKeys } = ports;
  let seen: ReadonlyMap<AccountId, number> = new Map();
  return {
    /**
     * Wakes the streams of accounts that have a new event since the last call, for events of other instances. Ends the
     * requests of unusable API keys. Makes one statement for all streams and waits of the process, and none without
     * them.
     */
    async watchStreams(): Promise<void> {
      const [accounts, keys] = [eventSignals.waitedFor(), openKeys.ids()];
      if (accounts.length === 0 && keys.length === 0) {
        seen = new Map();
        return;
      }
      const { latest, liveKeys } = await events.watch(accounts, keys);
      openKeys.endUnusable(keys, liveKeys); // first, so that they do not get the new event
      for (const [account, number] of latest) if (seen.get(account) !== number) eventSignals.wake(account);
      seen = latest;
    },
  };
}

/**
 * Wakes the waits for tasks that another instance has ended: that instance sends no signal here. Makes one statement
 * for all waits of the process, and none without waits. Not needed with a single instance.
 */
export async function watchWaitedTasks({ tasks, signals }: TaskWorkPorts): Promise<void> {
  const ids = signals.waitedFor();
  if (ids.length === 0) return;
  for (const id of await tasks.ended(ids)) signals.wake(id);
}
