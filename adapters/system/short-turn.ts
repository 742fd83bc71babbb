/** After so many milliseconds, a turn of the event loop leaves further work to the next one. */
export const TURN_MILLISECONDS = 5;

/** When the first of `shortTurn` began in this turn. */
let since: number | undefined;

/**
 * Resolves in a later turn of the event loop, before others in it have worked for `TURN_MILLISECONDS`: what many
 * requests do at the same time takes many short turns, and not a long one. The longest waiting comes first.
 */
export const shortTurn = (): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (since === undefined) {
        since = performance.now();
        setImmediate(() => {
          since = undefined; // the first callback of the next turn
        });
      }
      if (performance.now() - since > TURN_MILLISECONDS) setImmediate(look);
      else resolve();
    };
    setImmediate(look);
  });
