import { err, ok, type Result } from "neverthrow";
import type { Email, SignUpRefused } from "../../domain/accounts/account.js";
import type { ApiKey, ApiKeyId, ApiKeySecret } from "../../domain/accounts/api-key.js";
import type { KeyLimits } from "../../domain/accounts/key-limits.js";
import {
  INVITATION_SECONDS,
  openPasswordLink,
  PASSWORD_LINK_SECONDS,
  type PasswordLinkToken,
} from "../../domain/accounts/password.js";
import type { AccountId } from "../../domain/ids.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { SignUpSettings } from "../application-settings.js";
import { closeAccount } from "../close-account.js";
import { type NotFound, notFound, type TasksActive } from "../errors.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { EmailTaken } from "../ports/stores/account-stores.js";
import { type OperatorReason, parseReason } from "./panoramas.js";

/** A link that opens the account, once, until it expires. */
export type Invitation = { readonly token: PasswordLinkToken; readonly expiresAt: Date };

/** A link that sets a new password, once, until it expires. */
type NewPasswordLink = Invitation & { readonly email: Email };

/** Accounts and their API keys, for the operator. */
export function operatedAccounts(
  ports: Pick<ApplicationPorts, "accounts" | "keys" | "links" | "operators" | "clock" | "ids" | "secrets">,
  { signUp: mode }: SignUpSettings = {},
) {
  const { accounts, keys, operators, clock } = ports;
  return {
    /** Makes a link that opens an account for this address (accounts/links.ts). Refused while sign-up is closed. */
    async invite(email: Email): Promise<Result<Invitation, EmailTaken | SignUpRefused>> {
      if (mode === "closed") return err({ kind: "sign_up_refused", mode });
      if ((await accounts.findByEmail(email)) !== undefined) return err({ kind: "email_taken", email });
      return ok(await newLink(ports, email, INVITATION_SECONDS));
    },

    /** Makes a link with which the owner of the account sets a new password. */
    async makePasswordLink(id: AccountId): Promise<Result<NewPasswordLink, NotFound>> {
      const summary = await operators.account(id);
      if (summary === undefined || summary.closedAt !== undefined) {
        return err(notFound(`There is no open account ${id}.`));
      }
      const { email } = summary.account;
      return ok({ email, ...(await newLink(ports, email, PASSWORD_LINK_SECONDS)) });
    },

    /** Suspends an account (domain/accounts/account.ts), or resumes it without a reason. */
    async suspendAccount(
      id: AccountId,
      given: OperatorReason | undefined,
    ): Promise<Result<void, NotFound | InvalidRequest>> {
      const parsed = given === undefined ? ok(undefined) : parseReason(given);
      if (parsed.isErr()) return err(parsed.error);
      if (!(await accounts.exists(id))) return err(notFound(`There is no account ${id}.`));
      return operators.suspend(id, parsed.value && { at: clock.now(), reason: parsed.value.reason });
    },

    closeAccount(id: AccountId): Promise<Result<void, NotFound | TasksActive>> {
      return closeAccount(ports, id);
    },

    /** The key of any account with this secret, such as a leaked one, even if revoked. */
    findKeyBySecret(secret: ApiKeySecret): Promise<ApiKey | undefined> {
      return operators.keyWithSecret(ports.secrets.sha256(secret));
    },

    /**
     * Changes the limits of a key for later requests. `change` receives the present limits. Returns the changed key.
     */
    changeKeyLimits(
      id: ApiKeyId,
      change: (limits: KeyLimits, now: Date) => Result<KeyLimits, InvalidRequest>,
    ): Promise<Result<ApiKey, NotFound | InvalidRequest>> {
      return operators.setKeyLimits(id, (limits) => change(limits, clock.now()));
    },

    /** Revokes all keys of an account. Resolves to their number. */
    async revokeKeys(account: AccountId): Promise<Result<number, NotFound>> {
      if (!(await accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
      const live = await keys.listLive(account);
      for (const { id } of live) await keys.revoke(id, clock.now());
      return ok(live.length);
    },
  };
}

async function newLink(
  { links, clock, ids, secrets }: Pick<ApplicationPorts, "links" | "clock" | "ids" | "secrets">,
  email: Email,
  seconds: number,
): Promise<Invitation> {
  const [token, now] = [ids.passwordLinkToken(), clock.now()];
  const link = openPasswordLink(email, secrets.sha256(token), now, seconds);
  // No maximum: links that strangers have requested must not prevent it.
  await links.insert(link, now, Number.MAX_SAFE_INTEGER);
  return { token, expiresAt: link.expiresAt };
}
