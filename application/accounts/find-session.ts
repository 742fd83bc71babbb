import type { Account } from "../../domain/account.js";
import { isLive, type SessionToken } from "../../domain/session.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Secrets } from "../ports/secrets.js";
import type { SessionStore } from "../ports/session-store.js";

type Ports = {
  readonly accounts: AccountStore;
  readonly sessions: SessionStore;
  readonly clock: Clock;
  readonly secrets: Secrets;
};

/** Somebody who is logged in. `formToken` is in each of their forms: a page of somebody else cannot know it. */
export type Visitor = { readonly account: Account; readonly token: SessionToken; readonly formToken: string };

export type FindSession = ReturnType<typeof findSession>;

/** Who holds this session token; `undefined` for an unknown, expired or ended session. */
export const findSession =
  ({ accounts, sessions, clock, secrets }: Ports) =>
  async (token: SessionToken): Promise<Visitor | undefined> => {
    const session = await sessions.find(secrets.sha256(token));
    if (session === undefined || !isLive(session, clock.now())) return undefined;
    const account = await accounts.find(session.accountId);
    // Made of the token, of which the store knows only another digest.
    return account && { account, token, formToken: secrets.sha256(`form ${token}`) };
  };
