import type { Clock } from "../ports/clock.js";
import type { NewOperatorAction, OperatorLog } from "../ports/stores/operator-log.js";

type Ports = { readonly operatorLog: Pick<OperatorLog, "begin" | "end">; readonly clock: Pick<Clock, "now"> };

/**
 * Runs an operator's action, and records it before it begins and after it has ended, so that the log has also the one
 * that was killed. `outcomeOf` names the outcome of what the action returns; one that throws has `failed`.
 */
export const recordAction =
  ({ operatorLog, clock }: Ports) =>
  async <T>(
    action: Omit<NewOperatorAction, "at">,
    run: () => Promise<T>,
    outcomeOf: (result: T) => string,
  ): Promise<T> => {
    const id = await operatorLog.begin({ ...action, at: clock.now() });
    try {
      const result = await run();
      await operatorLog.end(id, outcomeOf(result));
      return result;
    } catch (error) {
      await operatorLog.end(id, "failed").catch(() => {}); // the error that is thrown says why
      throw error;
    }
  };
