import { shortened } from "../../domain/text.js";
import type { Clock } from "../ports/clock.js";
import type { NewOperatorAction, OperatorLog } from "../ports/stores/operator-log.js";

/** Longer arguments are cut: a mistyped one must not fill the log. */
const ARGUMENT_CHARACTERS_MAX = 500;

export function operatorActions({ operatorLog, clock }: { readonly operatorLog: OperatorLog; readonly clock: Clock }) {
  return {
    /**
     * Runs an operator's action, and records it before and after, so that killed actions are in the log. `outcomeOf`
     * maps the result to an outcome; an exception gives `failed`.
     */
    async recordAction<T>(
      action: Omit<NewOperatorAction, "at">,
      run: () => Promise<T>,
      outcomeOf: (result: T) => string,
    ): Promise<T> {
      const given = Object.entries(action.arguments).map(([name, value]) => [
        name,
        shortened(value, ARGUMENT_CHARACTERS_MAX),
      ]);
      const id = await operatorLog.begin({ ...action, arguments: Object.fromEntries(given), at: clock.now() });
      try {
        const result = await run();
        await operatorLog.end(id, outcomeOf(result));
        return result;
      } catch (error) {
        await operatorLog.end(id, "failed").catch(() => {}); // the error that is thrown says why
        throw error;
      }
    },
  };
}
