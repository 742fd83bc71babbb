import { err, ok, type Result } from "neverthrow";
import type { Account } from "../../domain/accounts/account.js";
import { isLive, openSession, type SessionToken } from "../../domain/accounts/session.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { AccountId } from "../../domain/ids.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { HashingBusy } from "../ports/secrets.js";
import type { AdmittedBy } from "../ports/stores/access.js";
import {
  type CredentialPorts,
  type Credentials,
  checkCredentials,
  WRONG_LOGIN,
  type WrongLogin,
} from "./check-credentials.js";

/** A logged-in user. Every form contains `formToken`, which other sites cannot know (protection against CSRF). */
export type Visitor = {
  readonly account: Account;
  readonly token: SessionToken;
  readonly admittedBy: AdmittedBy;
  readonly formToken: string;
};

/** What opening and reading sessions needs. */
export type SessionPorts = Pick<ApplicationPorts, "accounts" | "sessions" | "clock" | "ids" | "secrets">;

/** Open sessions. */
export function sessions(ports: SessionPorts) {
  const { accounts, clock, secrets } = ports;
  return {
    /** The user of this session token; `undefined` for an unknown, expired or ended session. */
    async findSession(token: SessionToken): Promise<Visitor | undefined> {
      const sessionSha256 = secrets.sha256(token);
      const session = await ports.sessions.find(sessionSha256);
      if (session === undefined || !isLive(session, clock.now())) return undefined;
      const account = await accounts.find(session.accountId);
      // The prefix makes this digest differ from the one in the store: a leaked store does not reveal form tokens.
      return account && { account, token, admittedBy: { sessionSha256 }, formToken: secrets.sha256(`form ${token}`) };
    },

    /** Deletes the session. Copies of its cookie stop working. */
    logOut(token: SessionToken): Promise<void> {
      return ports.sessions.delete(secrets.sha256(token));
    },
  };
}

/** Sessions that a password opens. */
export function logins(ports: SessionPorts & CredentialPorts) {
  return {
    /** Opens a session for the right password (check-credentials.ts). */
    async logIn(
      credentials: Credentials,
      signal?: AbortSignal,
    ): Promise<Result<SessionToken, WrongLogin | RateLimited | HashingBusy>> {
      const proof = await checkCredentials(ports, credentials, signal);
      if (proof.isErr()) return err(proof.error);
      const { accountId, passwordHash } = proof.value;
      const token = await newSession(ports, accountId, passwordHash);
      if (token !== undefined) return ok(token);
      // The password was changed meanwhile.
      const { remoteAddress: network } = credentials;
      ports.reporter.report({ kind: "login_failed", reason: "wrong_password", network, accountId });
      return err(WRONG_LOGIN);
    },
  };
}

/** Opens a session; `undefined` if the account no longer has the password with this hash. */
export async function newSession(
  { sessions, clock, ids, secrets }: SessionPorts,
  accountId: AccountId,
  passwordHash: string,
): Promise<SessionToken | undefined> {
  const token = ids.sessionToken();
  const now = clock.now();
  await sessions.deleteExpired(now);
  const stored = await sessions.insert(openSession(accountId, secrets.sha256(token), now), passwordHash);
  return stored ? token : undefined;
}
