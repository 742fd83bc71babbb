import type { Clock } from "../../application/ports/clock.js";

/** Calls `read` again only if its last call is more than so many milliseconds ago. All callers share its result. */
export const sharedFor = <Value>(
  milliseconds: number,
  clock: Pick<Clock, "now">,
  read: () => Promise<Value>,
): (() => Promise<Value>) => {
  let last: { readonly at: number; readonly value: Promise<Value> } | undefined;
  return () => {
    const at = clock.now().getTime();
    // In both directions: the clock may be set back.
    if (last === undefined || Math.abs(at - last.at) > milliseconds) last = { at, value: read() };
    return last.value;
  };
};
