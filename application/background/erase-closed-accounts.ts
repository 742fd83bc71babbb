import { eraseAccount } from "../operators/close-account.js";
import type { Clock } from "../ports/clock.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";

type Ports = {
  readonly operators: Pick<OperatorStore, "toErase" | "eraseTasks" | "eraseEvents" | "recordErased">;
  readonly clock: Pick<Clock, "now">;
};

/** In one run: an account may have many tasks. */
const ACCOUNTS_MAX = 10;

/**
 * Completes what the closing of an account has left, because its process ended or threw: whoever has deleted the own
 * account cannot repeat it. Resolves to the number of accounts.
 */
export const eraseClosedAccounts =
  (ports: Ports) =>
  async (stopping?: AbortSignal): Promise<number> => {
    const closed = await ports.operators.toErase(ACCOUNTS_MAX);
    const errors: unknown[] = [];
    for (const id of closed) {
      if (stopping?.aborted === true) break;
      await eraseAccount(ports, id).catch((error: unknown) => errors.push(error)); // the others are still erased
    }
    if (errors.length > 0) throw errors[0];
    return closed.length;
  };
