import { AsyncLocalStorage } from "node:async_hooks";

/** Fields that each log line of a request contains. */
export type RequestContext = { readonly requestId: string };

const requests = new AsyncLocalStorage<RequestContext>();

/** Runs `handle` with this context, which also applies to all asynchronous work that `handle` starts. */
export const withRequest = <T>(context: RequestContext, handle: () => T): T => requests.run(context, handle);

/** Returns `undefined` outside a request. */
export const currentRequest = (): RequestContext | undefined => requests.getStore();
