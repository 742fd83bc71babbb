import type { AccountId } from "../../domain/ids.js";
import type { HeldKeys } from "../accounts/held-keys.js";
import type { EventSignals } from "../ports/event-signals.js";
import type { EventStore } from "../ports/stores/event-store.js";

type Ports = {
  readonly events: Pick<EventStore, "watch">;
  readonly signals: Pick<EventSignals, "waitedFor" | "wake">;
  readonly heldKeys: Pick<HeldKeys, "ids" | "endUnusable">;
};

/**
 * Wakes the streams of accounts that have a new event since the last call, which another instance may have written.
 * Ends the requests of API keys that may not be used any more. All streams and waits of a process share one statement,
 * and without them there is none.
 */
export const watchStreams = ({ events, signals, heldKeys }: Ports) => {
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
