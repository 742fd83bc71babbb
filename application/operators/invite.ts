import { err, ok, type Result } from "neverthrow";
import type { Email, SignUpRefused } from "../../domain/accounts/account.js";
import {
  INVITATION_SECONDS,
  openPasswordLink,
  PASSWORD_LINK_SECONDS,
  type PasswordLinkToken,
} from "../../domain/accounts/password.js";
import type { AccountId } from "../../domain/ids.js";
import type { ApplicationSettings } from "../application-settings.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Secrets } from "../ports/secrets.js";
import type { AccountStore, EmailTaken, PasswordLinkStore } from "../ports/stores/account-stores.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";

type InvitePorts = {
  readonly accounts: Pick<AccountStore, "findByEmail">;
  readonly links: Pick<PasswordLinkStore, "insert">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "passwordLinkToken">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/** A link that opens the account, once, until it expires. */
export type Invitation = { readonly token: PasswordLinkToken; readonly expiresAt: Date };

/**
 * For the operator: makes a link that opens an account for this address (accounts/password-links.ts). Refused while
 * sign-up is closed.
 */
export const invite =
  ({ accounts, links, clock, ids, secrets }: InvitePorts, { signUp: mode }: Pick<ApplicationSettings, "signUp"> = {}) =>
  async (email: Email): Promise<Result<Invitation, EmailTaken | SignUpRefused>> => {
    if (mode === "closed") return err({ kind: "sign_up_refused", mode });
    if ((await accounts.findByEmail(email)) !== undefined) return err({ kind: "email_taken", email });
    const [token, now] = [ids.passwordLinkToken(), clock.now()];
    const link = openPasswordLink(email, secrets.sha256(token), now, INVITATION_SECONDS);
    // No maximum: links that strangers have requested must not prevent it.
    await links.insert(link, now, Number.MAX_SAFE_INTEGER);
    return ok({ token, expiresAt: link.expiresAt });
  };

type MakePasswordLinkPorts = {
  readonly operators: Pick<OperatorStore, "account">;
  readonly links: Pick<PasswordLinkStore, "insert">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "passwordLinkToken">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/** A link that sets a new password, once, until it expires. */
type NewPasswordLink = {
  readonly email: Email;
  readonly token: PasswordLinkToken;
  readonly expiresAt: Date;
};

/** For the operator: makes a link with which the owner of the account sets a new password. */
export const makePasswordLink =
  ({ operators, links, clock, ids, secrets }: MakePasswordLinkPorts) =>
  async (id: AccountId): Promise<Result<NewPasswordLink, NotFound>> => {
    const summary = await operators.account(id);
    if (summary === undefined || summary.closedAt !== undefined)
      return err(notFound(`There is no open account ${id}.`));
    const { email } = summary.account;
    const [token, now] = [ids.passwordLinkToken(), clock.now()];
    const link = openPasswordLink(email, secrets.sha256(token), now, PASSWORD_LINK_SECONDS);
    // No maximum: links that strangers have requested must not prevent it.
    await links.insert(link, now, Number.MAX_SAFE_INTEGER);
    return ok({ email, token, expiresAt: link.expiresAt });
  };
