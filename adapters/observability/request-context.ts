import { AsyncLocalStorage } from "node:async_hooks";

/** What every log line of a request carries. */
export type RequestContext = { readonly requestId: string };

const requests = new AsyncLocalStorage<RequestContext>();

/** Runs `handle`, and all that it starts, as part of this request. */
export const withRequest = <T>(context: RequestContext, handle: () => T): T => requests.run(context, handle);

export const currentRequest = (): RequestContext | undefined => requests.getStore();
