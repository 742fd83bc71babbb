import { err, ok, type Result } from "neverthrow";
import type { Account } from "../../domain/accounts/account.js";
import { parsePassword } from "../../domain/accounts/password.js";
import type { SessionToken } from "../../domain/accounts/session.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { closeAccount } from "../close-account.js";
import type { TasksActive } from "../errors.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { HashingBusy } from "../ports/secrets.js";
import {
  type CredentialPorts,
  checkOwnPassword,
  type OwnPassword,
  WRONG_LOGIN,
  type WrongLogin,
} from "./check-credentials.js";
import { newSession, type SessionPorts } from "./sessions.js";

/** What the owner of an account changes with the password. A refusal changes nothing. */
export function accountSettings(ports: SessionPorts & CredentialPorts & Pick<ApplicationPorts, "operators" | "mail">) {
  const { accounts, secrets, mail } = ports;
  return {
    /**
     * Replaces the password of a logged-in user who knows the old one. Ends all sessions of the account, notifies its
     * address, and opens a new session.
     */
    async changePassword(
      account: Account,
      { newPassword, ...own }: OwnPassword & { readonly newPassword: string },
      signal?: AbortSignal,
    ): Promise<Result<SessionToken, InvalidRequest | WrongLogin | RateLimited | HashingBusy>> {
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
    },

    /** Permanently closes the account of a logged-in user, after a password check (close-account.ts). */
    async delete(
      account: Account,
      own: OwnPassword,
      signal?: AbortSignal,
    ): Promise<Result<void, TasksActive | WrongLogin | RateLimited | HashingBusy>> {
      const proof = await checkOwnPassword(ports, account, own, signal);
      if (proof.isErr()) return err(proof.error);
      const closed = await closeAccount(ports, account.id);
      if (closed.isErr()) {
        if (closed.error.kind === "tasks_active") return err(closed.error);
        throw new Error(closed.error.message); // an account is never removed
      }
      await mail.post({ kind: "account_deleted", to: account.email });
      return ok(undefined);
    },
  };
}
