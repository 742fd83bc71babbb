import { err, ok, type Result } from "neverthrow";
import {
  codeStepsAt,
  OPERATOR_SESSION_SECONDS,
  type OperatorName,
  parseOperatorName,
} from "../../domain/accounts/operator.js";
import { mayBePassword, type Password } from "../../domain/accounts/password.js";
import type { SessionToken } from "../../domain/accounts/session.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { OneTimeCodes } from "../ports/one-time-codes.js";
import type { LoginFailure, Reporter } from "../ports/reporter.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import type { OperatorLoginStore } from "../ports/stores/operator-login-store.js";
import type { RateLimits } from "../ports/stores/rate-limits.js";
import { admitLoginAttempt } from "./admit-login-attempt.js";
import type { WrongLogin } from "./sessions/check-credentials.js";

/** What the logins of operators need. */
export type OperatorAccessPorts = {
  readonly operatorLogins: OperatorLoginStore;
  readonly codes: OneTimeCodes;
  readonly rateLimits: RateLimits;
  readonly secrets: Secrets;
  readonly ids: Pick<Ids, "sessionToken">;
  readonly clock: Pick<Clock, "now">;
  readonly reporter: Pick<Reporter, "report">;
};

/** An attempt to log in to the operator's pages. `code`: that of the authenticator app. */
export type OperatorAttempt = {
  readonly name: string;
  readonly password: string;
  readonly code: string;
  readonly remoteAddress: string;
};

/** A logged-in operator. Every form contains `formToken`, as those of accounts do (find-session.ts). */
export type OperatorVisitor = {
  readonly name: OperatorName;
  readonly token: SessionToken;
  readonly formToken: string;
};

/** `codeSecret`: for the authenticator app, if it is a new one. */
export type OperatorPasswordSet = { readonly codeSecret: string | undefined };

/** The logins to the operator's pages: with a password and a one-time code, which is used once. */
export const operatorAccess = (ports: OperatorAccessPorts) => {
  const { operatorLogins: store, codes, secrets, clock } = ports;
  return {
    isOn: () => store.hasAny(),
    list: () => store.list(),
    remove: (name: OperatorName) => store.remove(name),

    /** Sets the password, and ends the sessions. A new operator, or one with `newCode`, gets a new secret for codes. */
    setPassword: async (
      name: OperatorName,
      password: Password,
      newCode: boolean,
    ): Promise<Result<OperatorPasswordSet, HashingBusy>> => {
      const hash = await secrets.hashPassword(password);
      if (hash.isErr()) return err(hash.error);
      const known = newCode ? undefined : (await store.find(name))?.codeSecret;
      const codeSecret = known ?? codes.newSecret();
      await store.put({ name, passwordHash: hash.value, codeSecret, createdAt: clock.now() });
      return ok({ codeSecret: known === undefined ? codeSecret : undefined });
    },

    /** A wrong name, password and code give the same error after the same time. */
    logIn: (attempt: OperatorAttempt, signal?: AbortSignal) => logIn(ports, attempt, signal),

    /** `undefined` for an unknown, expired or ended session. */
    find: async (token: SessionToken): Promise<OperatorVisitor | undefined> => {
      const session = await store.findSession(secrets.sha256(token));
      if (session === undefined || session.expiresAt <= clock.now()) return undefined;
      return { name: session.operator, token, formToken: secrets.sha256(`operator form ${token}`) };
    },

    logOut: (token: SessionToken) => store.deleteSession(secrets.sha256(token)),
  };
};

/** What `operatorAccess` returns. */
export type OperatorAccess = ReturnType<typeof operatorAccess>;

const logIn = async (
  ports: OperatorAccessPorts,
  attempt: OperatorAttempt,
  signal?: AbortSignal,
): Promise<Result<SessionToken, WrongLogin | RateLimited | HashingBusy>> => {
  const { operatorLogins: store, codes, secrets, ids, clock, reporter } = ports;
  const refuse = <Refusal>(refusal: Refusal, reason: LoginFailure): Result<never, Refusal> => {
    reporter.report({ kind: "login_failed", of: "operator", reason, network: attempt.remoteAddress });
    return err(refusal);
  };
  const wrong: WrongLogin = { kind: "wrong_login" };
  const name = parseOperatorName(attempt.name);
  // Not an address, so that no account has this name. Parsed first: a name with other spaces is the same party.
  const party = { email: `operator ${name.unwrapOr(attempt.name)}`, remoteAddress: attempt.remoteAddress };
  const admitted = await admitLoginAttempt(ports, party);
  if (admitted.isErr()) return refuse(admitted.error, "rate_limited");
  if (!mayBePassword(attempt.password)) return refuse(wrong, "wrong_password");
  const login = name.isOk() ? await store.find(name.value) : undefined;
  const right = await secrets.verifyPassword(attempt.password, login?.passwordHash, signal);
  if (right.isErr()) return refuse(right.error, "hashing_busy");
  if (login === undefined) return refuse(wrong, "unknown_address");
  if (!right.value) return refuse(wrong, "wrong_password");
  const now = clock.now();
  const given = attempt.code.replaceAll(" ", "");
  const step = codeStepsAt(now).find((one) => codes.codeAt(login.codeSecret, one) === given);
  if (step === undefined || !(await store.useCode(login.name, step))) return refuse(wrong, "wrong_code");
  await store.deleteExpiredSessions(now);
  const token = ids.sessionToken();
  const expiresAt = new Date(now.getTime() + OPERATOR_SESSION_SECONDS * 1000);
  const session = { tokenSha256: secrets.sha256(token), operator: login.name, expiresAt };
  return (await store.insertSession(session, login.passwordHash)) ? ok(token) : refuse(wrong, "wrong_password");
};
