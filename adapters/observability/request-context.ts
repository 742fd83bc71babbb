import { AsyncLocalStorage } from "node:async_hooks";

/** Fields that each log line of a request contains. */
export type RequestContext = { readonly requestId: string };

const requests = new AsyncLocalStorage<RequestContext>();
let running = 0;
let isEndPlanned = false;

/**
 * Runs `handle` with this context, which also applies to all asynchronous work that `handle` awaits. While any request
 * runs with a context, Node.js 20 and 22 call a hook for each promise of the process, so this ends with the turn of the
 * event loop in which the last one does. Beginning and ending it for each request would cost more than its work.
 */
export const withRequest = <T>(context: RequestContext, handle: () => T): T => {
  running += 1;
  const result = requests.run(context, handle);
  if (result instanceof Promise) result.then(leave, leave);
  else leave();
  return result;
};

/** Returns `undefined` outside a request. */
export const currentRequest = (): RequestContext | undefined => requests.getStore();

const leave = (): void => {
  running -= 1;
  if (running > 0 || isEndPlanned) return;
  isEndPlanned = true;
  setImmediate(end);
};

const end = (): void => {
  isEndPlanned = false;
  if (running === 0) requests.disable();
};
