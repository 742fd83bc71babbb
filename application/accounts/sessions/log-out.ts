import type { SessionToken } from "../../../domain/accounts/session.js";
import type { Secrets } from "../../ports/secrets.js";
import type { SessionStore } from "../../ports/stores/accounts/session-store.js";

type Ports = { readonly sessions: Pick<SessionStore, "delete">; readonly secrets: Pick<Secrets, "sha256"> };

/** Deletes the session, so that copies of its cookie are refused, too. */
export const logOut =
  ({ sessions, secrets }: Ports) =>
  (token: SessionToken): Promise<void> =>
    sessions.delete(secrets.sha256(token));
