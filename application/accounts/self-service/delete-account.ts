import { err, ok, type Result } from "neverthrow";
import type { Account } from "../../../domain/accounts/account.js";
import type { RateLimited } from "../../../domain/credits/rate-limit.js";
import type { AccountId } from "../../../domain/ids.js";
import type { NotFound, TasksActive } from "../../errors.js";
import type { Mail } from "../../ports/mail.js";
import type { HashingBusy } from "../../ports/secrets.js";
import {
  type CredentialsPorts,
  checkOwnPassword,
  type OwnPassword,
  type WrongLogin,
} from "../sessions/check-credentials.js";

type Ports = CredentialsPorts & {
  /** Of operators/close-account.ts. */
  readonly closeAccount: (id: AccountId) => Promise<Result<void, NotFound | TasksActive>>;
  readonly mail: Mail;
};

/** Closes the account of somebody who is logged in and knows the password, for good (operators/close-account.ts). */
export const deleteAccount =
  (ports: Ports) =>
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
