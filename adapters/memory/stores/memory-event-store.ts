import type { EventStore, StoredEvent, WatchedStreams } from "../../../application/ports/stores/webhook-stores.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { MemoryDatabase } from "./memory-database.js";

/** Events in memory. */
export class MemoryEventStore implements EventStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async after(account: AccountId, after: number, limit: number, task?: TaskId): Promise<StoredEvent[]> {
    return this.database.events
      .filter((event) => event.accountId === account && event.number > after)
      .sort((a, b) => a.number - b.number)
      .flatMap((event): StoredEvent[] => {
        if (event.type === "credits.low") return task === undefined ? [{ event, task: undefined }] : [];
        const shown = this.database.shown(event.taskId, account)?.task;
        return shown === undefined || (task !== undefined && task !== shown.id) ? [] : [{ event, task: shown }];
      })
      .slice(0, limit);
  }

  async latest(accounts: readonly AccountId[]): Promise<Map<AccountId, number>> {
    const known = accounts.filter((id) => this.database.accounts.has(id));
    return new Map(known.map((id) => [id, this.database.lastEventOf(id)]));
  }

  async watch(accounts: readonly AccountId[], keys: readonly ApiKeyId[]): Promise<WatchedStreams> {
    const live = keys.flatMap((id) => {
      const key = this.database.keys.get(id);
      if (key === undefined || key.revokedAt !== undefined) return [];
      const { suspensionReason } = this.database.account(key.accountId).standing;
      return suspensionReason === undefined ? [[id, key.limits] as const] : [];
    });
    return { latest: await this.latest(accounts), liveKeys: new Map(live) };
  }
}
