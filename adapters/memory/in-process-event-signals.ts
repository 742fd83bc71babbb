import type { EventSignals } from "../../application/ports/signals.js";
import type { AccountId } from "../../domain/ids.js";
import { WaitingCalls } from "./waiting-calls.js";

/** Event signals within this process. Events of other instances: application/background/watch-changes.ts. */
export class InProcessEventSignals implements EventSignals {
  private readonly waiting = new WaitingCalls<AccountId>();

  next(account: AccountId, signal: AbortSignal): Promise<void> {
    return this.waiting.next(account, signal);
  }

  waitedFor(): AccountId[] {
    return this.waiting.keys();
  }

  wake(account: AccountId): void {
    this.waiting.wake(account);
  }
}
