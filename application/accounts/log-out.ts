import type { SessionToken } from "../../domain/session.js";
import type { Secrets } from "../ports/secrets.js";
import type { SessionStore } from "../ports/session-store.js";

export type LogOut = ReturnType<typeof logOut>;

/** Ends the session everywhere, not only in this browser's cookie. */
export const logOut =
  ({ sessions, secrets }: { readonly sessions: SessionStore; readonly secrets: Secrets }) =>
  (token: SessionToken): Promise<void> =>
    sessions.delete(secrets.sha256(token));
