import { err, ok, type Result } from "neverthrow";
import type { Account } from "../../domain/accounts/account.js";
import { parsePassword } from "../../domain/accounts/password.js";
import type { SessionToken } from "../../domain/accounts/session.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { AccountId } from "../../domain/ids.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { NotFound, TasksActive } from "../errors.js";
import type { Mail } from "../ports/mail.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import type { AccountStore } from "../ports/stores/account-stores.js";
import {
  type CredentialsPorts,
  checkOwnPassword,
  type OwnPassword,
  WRONG_LOGIN,
  type WrongLogin,
} from "./check-credentials.js";
import { type NewSessionPorts, newSession } from "./sessions.js";

type ChangePasswordPorts = CredentialsPorts &
  NewSessionPorts & {
    readonly accounts: Pick<AccountStore, "replacePassword">;
    readonly secrets: Pick<Secrets, "hashPassword">;
    readonly mail: Mail;
  };

/**
 * Replaces the password of a logged-in user who knows the old one. Ends all sessions of the account, notifies its
 * address, and opens a new session. A refusal changes nothing.
 */
export const changePassword =
  (ports: ChangePasswordPorts) =>
  async (
    account: Account,
    { newPassword, ...own }: OwnPassword & { readonly newPassword: string },
    signal?: AbortSignal,
  ): Promise<Result<SessionToken, InvalidRequest | WrongLogin | RateLimited | HashingBusy>> => {
    const { accounts, secrets, mail } = ports;
    const next = parsePassword(newPassword);
    if (next.isErr()) return err(next.error);
    const proof = await checkOwnPassword(ports, account, own, signal);
    if (proof.isErr()) return err(proof.error);
    const hash = await secrets.hashPassword(next.value, signal);
    if (hash.isErr()) return err(hash.error);
    // The second of two concurrent changes fails: its old password is no longer valid.
    if (!(await accounts.replacePassword(account.id, proof.value.passwordHash, hash.value))) return err(WRONG_LOGIN);
    await mail.post({ kind: "password_changed", to: account.email });
    const session = await newSession(ports, account.id, hash.value);
    return session === undefined ? err(WRONG_LOGIN) : ok(session);
  };

type DeleteAccountPorts = CredentialsPorts & {
  /** `closeAccount` of operators/close-account.ts. */
  readonly closeAccount: (id: AccountId) => Promise<Result<void, NotFound | TasksActive>>;
  readonly mail: Mail;
};

/** Permanently closes the account of a logged-in user, after a password check (operators/close-account.ts). */
export const deleteAccount =
  (ports: DeleteAccountPorts) =>
  async (
    account: Account,
    own: OwnPassword,
    signal?: AbortSignal,
  ): Promise<Result<void, TasksActive | WrongLogin | RateLimited | HashingBusy>> => {
    const proof = await checkOwnPassword(ports, account, own, signal);
    if (proof.isErr()) return err(proof.error);
    const closed = await ports.closeAccount(account.id);
    if (closed.isErr()) {
      if (closed.error.kind === "tasks_active") return err(closed.error);
      throw new Error(closed.error.message); // an account is never removed
    }
    await ports.mail.post({ kind: "account_deleted", to: account.email });
    return ok(undefined);
  };
