import type { SessionStore } from "../../../application/ports/session-store.js";
import type { Session } from "../../../domain/session.js";

/** Sessions in memory. */
export class MemorySessionStore implements SessionStore {
  readonly sessions = new Map<string, Session>();

  async insert(session: Session): Promise<void> {
    this.sessions.set(session.tokenSha256, session);
  }

  async find(tokenSha256: string): Promise<Session | undefined> {
    return this.sessions.get(tokenSha256);
  }

  async delete(tokenSha256: string): Promise<void> {
    this.sessions.delete(tokenSha256);
  }

  async deleteExpired(now: Date): Promise<void> {
    for (const session of this.sessions.values()) {
      if (session.expiresAt < now) this.sessions.delete(session.tokenSha256);
    }
  }
}
