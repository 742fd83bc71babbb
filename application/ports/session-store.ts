import type { Session } from "../../domain/session.js";

/** Where logins live. An unreachable store or an unreadable row is thrown. */
export interface SessionStore {
  insert(session: Session): Promise<void>;
  find(tokenSha256: string): Promise<Session | undefined>;
  /** One that is not there is gone already. */
  delete(tokenSha256: string): Promise<void>;
  /** Forgets sessions that ended before `now`. */
  deleteExpired(now: Date): Promise<void>;
}
