import type { Call } from "./requests/send-request.js";
import type { CreditEntry, CreditEntryPage, ListFilter, PanoramaTask, TaskPage } from "./resources.js";

/** Times are in milliseconds. */
export type ClientOptions = {
  /** The origin of the service, or its URL that ends in `/api/v1`. Default: the variable `PANORAMA_BASE_URL`. */
  readonly baseUrl?: string | undefined;
  /** `sk-…`. Default: the variable `PANORAMA_API_KEY`. Without a key every call fails with `invalid_api_key`. */
  readonly apiKey?: string | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Maximum number of retries after a transient error. Default: 5. */
  readonly maxRetries?: number | undefined;
  /** Maximum time of a call including retries. Default: 40,000. */
  readonly timeout?: number | undefined;
  /** Maximum time of one attempt. Default: 12,000. Uploads use `timeout`. */
  readonly perAttemptTimeout?: number | undefined;
  /** Logs one line per attempt and pause, for example `console`. Lines never contain key, prompt or image URLs. */
  readonly logger?: Logger | undefined;
  /** Sent with every request. */
  readonly defaultHeaders?: Readonly<Record<string, string>> | undefined;
};

/** A part of `console`. */
export type Logger = { debug(line: string): void; warn(line: string): void };

/** Overrides the client's limits for one call. `signal` aborts it. */
export type CallOptions = Pick<ClientOptions, "timeout" | "maxRetries"> & { readonly signal?: AbortSignal | undefined };

/** `idempotencyKey`: the same creation with the same key within 24 hours is charged once. Default: a new UUID. */
export type CreateOptions = CallOptions & { readonly idempotencyKey?: string | undefined };

/** The state of the task at a read during a wait. */
export type Progress = { readonly task: PanoramaTask; readonly elapsedSeconds: number };

/** `timeout`: in milliseconds. `onProgress` is called after each read, about every ten seconds. */
export type WaitOptions = {
  readonly timeout?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** `limit`: page size, at most 100 (default). `cursor`: the `next_cursor` of the page before. */
export type ListOptions = ListFilter & CallOptions & { readonly limit?: number; readonly cursor?: string | undefined };

/** `limit` and `cursor` as in `ListOptions`. */
export type EntryOptions = CallOptions & Pick<ListOptions, "limit" | "cursor">;

/** `await` gives the first page. `for await` gives all tasks and reads pages on demand. */
export type TaskList = Call<TaskPage> & AsyncIterable<PanoramaTask>;

/** Ledger entries; pages like `TaskList`. */
export type CreditEntryList = Call<CreditEntryPage> & AsyncIterable<CreditEntry>;

/** `task`: only the events of this task. `lastEventId`: begins after this event. */
export type EventOptions = {
  readonly task?: string | undefined;
  readonly lastEventId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};
