import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { KeyUse } from "../../../domain/accounts/key-limits.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { AccountEvent } from "../../../domain/tasks/account-event.js";
import type { Task } from "../../../domain/tasks/task.js";

/** An event with its task as it is now; `undefined` for an event that is not about a task. */
export type StoredEvent = { readonly event: AccountEvent; readonly task: Task | undefined };

/** What the streams of a process wait for: events of accounts, and the end of API keys. */
export type WatchedStreams = {
  readonly latest: ReadonlyMap<AccountId, number>;
  readonly liveKeys: ReadonlyMap<ApiKeyId, KeyUse>;
};

/** Reads the events of accounts. The task store writes them. Throws if the store is unreachable. */
export interface EventStore {
  /**
   * Up to `limit` events of the account with a greater number than `after`, in their order; with `task`, only those of
   * this task. Leaves out events of tasks that are hidden or that this version cannot read. Fewer than `limit` only if
   * there are no more. Its cost depends on the events that it returns, not on those that the account has.
   */
  after(account: AccountId, after: number, limit: number, task?: TaskId): Promise<StoredEvent[]>;
  /** The number of the latest event of each account; 0 for an account without one. */
  latest(accounts: readonly AccountId[]): Promise<Map<AccountId, number>>;
  /** In one round trip what `latest` returns, and the limits of those of the keys that exist and are not revoked. */
  watch(accounts: readonly AccountId[], keys: readonly ApiKeyId[]): Promise<WatchedStreams>;
}
