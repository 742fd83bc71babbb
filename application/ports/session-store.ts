import type { Session } from "../../domain/session.js";

/** Stores login sessions. Throws if the store is unreachable or a row is unreadable. */
export interface SessionStore {
  insert(session: Session): Promise<void>;
  find(tokenSha256: string): Promise<Session | undefined>;
  /** Succeeds if there is no such session. */
  delete(tokenSha256: string): Promise<void>;
  /** Deletes the sessions that expired before `now`. */
  deleteExpired(now: Date): Promise<void>;
}
