import type { Account } from "../../../domain/accounts/account.js";
import { isLive, type SessionToken } from "../../../domain/accounts/session.js";
import type { Clock } from "../../ports/clock.js";
import type { Secrets } from "../../ports/secrets.js";
import type { AccountStore } from "../../ports/stores/accounts/account-store.js";
import type { SessionStore } from "../../ports/stores/accounts/session-store.js";

type Ports = {
  readonly accounts: Pick<AccountStore, "find">;
  readonly sessions: Pick<SessionStore, "find">;
  readonly clock: Pick<Clock, "now">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/** A logged-in user. Every form contains `formToken`, which other sites cannot know (protection against CSRF). */
export type Visitor = { readonly account: Account; readonly token: SessionToken; readonly formToken: string };

/** Returns the user of this session token; `undefined` for an unknown, expired or ended session. */
export const findSession =
  ({ accounts, sessions, clock, secrets }: Ports) =>
  async (token: SessionToken): Promise<Visitor | undefined> => {
    const session = await sessions.find(secrets.sha256(token));
    if (session === undefined || !isLive(session, clock.now())) return undefined;
    const account = await accounts.find(session.accountId);
    // The prefix makes this digest differ from the one in the store: a leaked store does not reveal form tokens.
    return account && { account, token, formToken: secrets.sha256(`form ${token}`) };
  };
