import { err, ok, type Result } from "neverthrow";
import type { Account } from "../../domain/accounts/account.js";
import { isLive, openSession, type SessionToken } from "../../domain/accounts/session.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { AccountId } from "../../domain/ids.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import type { AdmittedBy } from "../ports/stores/access.js";
import type { AccountStore, SessionStore } from "../ports/stores/account-stores.js";
import {
  type Credentials,
  type CredentialsPorts,
  checkCredentials,
  WRONG_LOGIN,
  type WrongLogin,
} from "./check-credentials.js";

type LogInPorts = CredentialsPorts & NewSessionPorts;

/** Opens a session for the right password (check-credentials.ts). */
export const logIn =
  (ports: LogInPorts) =>
  async (
    credentials: Credentials,
    signal?: AbortSignal,
  ): Promise<Result<SessionToken, WrongLogin | RateLimited | HashingBusy>> => {
    const proof = await checkCredentials(ports, credentials, signal);
    if (proof.isErr()) return err(proof.error);
    const { accountId, passwordHash } = proof.value;
    const token = await newSession(ports, accountId, passwordHash);
    if (token !== undefined) return ok(token);
    // The password was changed meanwhile.
    const { remoteAddress: network } = credentials;
    ports.reporter.report({ kind: "login_failed", reason: "wrong_password", network, accountId });
    return err(WRONG_LOGIN);
  };

type LogOutPorts = { readonly sessions: Pick<SessionStore, "delete">; readonly secrets: Pick<Secrets, "sha256"> };

/** Deletes the session. Copies of its cookie stop working. */
export const logOut =
  ({ sessions, secrets }: LogOutPorts) =>
  (token: SessionToken): Promise<void> =>
    sessions.delete(secrets.sha256(token));

type FindSessionPorts = {
  readonly accounts: Pick<AccountStore, "find">;
  readonly sessions: Pick<SessionStore, "find">;
  readonly clock: Pick<Clock, "now">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/** A logged-in user. Every form contains `formToken`, which other sites cannot know (protection against CSRF). */
export type Visitor = {
  readonly account: Account;
  readonly token: SessionToken;
  readonly admittedBy: AdmittedBy;
  readonly formToken: string;
};

/** Returns the user of this session token; `undefined` for an unknown, expired or ended session. */
export const findSession =
  ({ accounts, sessions, clock, secrets }: FindSessionPorts) =>
  async (token: SessionToken): Promise<Visitor | undefined> => {
    const sessionSha256 = secrets.sha256(token);
    const session = await sessions.find(sessionSha256);
    if (session === undefined || !isLive(session, clock.now())) return undefined;
    const account = await accounts.find(session.accountId);
    // The prefix makes this digest differ from the one in the store: a leaked store does not reveal form tokens.
    return account && { account, token, admittedBy: { sessionSha256 }, formToken: secrets.sha256(`form ${token}`) };
  };

/** Ports of `newSession`. */
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
