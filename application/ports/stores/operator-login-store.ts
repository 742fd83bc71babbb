import type { OperatorLogin, OperatorName, OperatorSession } from "../../../domain/accounts/operator.js";

/** Who may use the operator's pages, and their sessions. Throws if the store is unreachable. */
export interface OperatorLoginStore {
  /** Whether there is any: without one there are no operator's pages. */
  hasAny(): Promise<boolean>;
  find(name: OperatorName): Promise<OperatorLogin | undefined>;
  /** By name. */
  list(): Promise<OperatorLogin[]>;
  /** Inserts or replaces the login, and ends its sessions. Codes that were used stay used unless the secret is new. */
  put(login: OperatorLogin): Promise<void>;
  /** Also ends its sessions. Returns whether there was one. */
  remove(name: OperatorName): Promise<boolean>;
  /** Marks the code of this step as used. Returns `false` if this one, or a later one, was used before. */
  useCode(name: OperatorName, step: number): Promise<boolean>;
  /** Stores the session if there is still such a login with the password of this hash, and returns whether there is. */
  insertSession(session: OperatorSession, passwordHash: string): Promise<boolean>;
  findSession(tokenSha256: string): Promise<OperatorSession | undefined>;
  deleteSession(tokenSha256: string): Promise<void>;
  deleteExpiredSessions(now: Date): Promise<void>;
}
