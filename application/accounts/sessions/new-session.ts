import { openSession, type SessionToken } from "../../../domain/accounts/session.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Clock } from "../../ports/clock.js";
import type { Ids } from "../../ports/ids.js";
import type { Secrets } from "../../ports/secrets.js";
import type { SessionStore } from "../../ports/stores/accounts/session-store.js";

/** What a new session needs. */
export type NewSessionPorts = {
  readonly sessions: Pick<SessionStore, "insert" | "deleteExpired">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "sessionToken">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/** Opens a session; `undefined` if the account no longer has the password with this hash. */
export const newSession = async (
  { sessions, clock, ids, secrets }: NewSessionPorts,
  accountId: AccountId,
  passwordHash: string,
): Promise<SessionToken | undefined> => {
  const token = ids.sessionToken();
  const now = clock.now();
  await sessions.deleteExpired(now);
  const stored = await sessions.insert(openSession(accountId, secrets.sha256(token), now), passwordHash);
  return stored ? token : undefined;
};
