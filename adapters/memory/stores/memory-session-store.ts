import type { SessionStore } from "../../../application/ports/stores/account-stores.js";
import { SESSIONS_MAX, type Session } from "../../../domain/accounts/session.js";
import type { MemoryDatabase } from "./memory-database.js";

/** Sessions in memory. */
export class MemorySessionStore implements SessionStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async insert(session: Session, passwordHash: string): Promise<boolean> {
    if (this.database.accounts.get(session.accountId)?.passwordHash !== passwordHash) return false;
    const { sessions } = this.database;
    sessions.set(session.tokenSha256, session);
    const newest = [...sessions.values()]
      .filter(({ accountId }) => accountId === session.accountId)
      .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.tokenSha256 < b.tokenSha256 ? -1 : 1));
    for (const { tokenSha256 } of newest.slice(SESSIONS_MAX)) sessions.delete(tokenSha256);
    return true;
  }

  async find(tokenSha256: string): Promise<Session | undefined> {
    return this.database.sessions.get(tokenSha256);
  }

  async delete(tokenSha256: string): Promise<void> {
    this.database.sessions.delete(tokenSha256);
  }

  async deleteExpired(now: Date): Promise<void> {
    for (const session of this.database.sessions.values()) {
      if (session.expiresAt < now) this.database.sessions.delete(session.tokenSha256);
    }
  }
}
