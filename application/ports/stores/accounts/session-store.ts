import type { Session } from "../../../../domain/accounts/session.js";

/** Stores login sessions. Throws if the store is unreachable or a row is unreadable. */
export interface SessionStore {
  /**
   * Stores the session if its account has the password with this hash, and returns whether it has. So a login that
   * began before the password was changed opens no session afterwards. Ends the oldest sessions of the account above
   * `SESSIONS_MAX`.
   */
  insert(session: Session, passwordHash: string): Promise<boolean>;
  find(tokenSha256: string): Promise<Session | undefined>;
  /** Succeeds if there is no such session. */
  delete(tokenSha256: string): Promise<void>;
  /** Deletes the sessions that expired before `now`. */
  deleteExpired(now: Date): Promise<void>;
}
