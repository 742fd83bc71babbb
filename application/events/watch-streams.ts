import type { AccountId } from "../../domain/account.js";
import type { EventSignals } from "../ports/event-signals.js";
import type { EventStore } from "../ports/event-store.js";

type Ports = {
  readonly events: Pick<EventStore, "latest">;
  readonly signals: Pick<EventSignals, "waitedFor" | "wake">;
};

/**
 * Wakes the streams of accounts that have a new event since the last call, which another instance may have written. All
 * streams of a process share one statement, and without streams there is none.
 */
export const watchStreams = ({ events, signals }: Ports) => {
  let seen: ReadonlyMap<AccountId, number> = new Map();
  return async (): Promise<void> => {
    const accounts = signals.waitedFor();
    const latest: ReadonlyMap<AccountId, number> = accounts.length === 0 ? new Map() : await events.latest(accounts);
    for (const [account, number] of latest) if (seen.get(account) !== number) signals.wake(account);
    seen = latest;
  };
};
