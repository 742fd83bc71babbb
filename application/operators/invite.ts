import { err, ok, type Result } from "neverthrow";
import type { Email, SignUpRefused } from "../../domain/accounts/account.js";
import { INVITATION_SECONDS, openPasswordLink, type PasswordLinkToken } from "../../domain/accounts/password.js";
import type { ApplicationSettings } from "../application-settings.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Secrets } from "../ports/secrets.js";
import type { AccountStore, EmailTaken } from "../ports/stores/accounts/account-store.js";
import type { PasswordLinkStore } from "../ports/stores/accounts/password-link-store.js";

type Ports = {
  readonly accounts: Pick<AccountStore, "findByEmail">;
  readonly links: Pick<PasswordLinkStore, "insert">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "passwordLinkToken">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/** A link that opens the account, once, until it expires. */
export type Invitation = { readonly token: PasswordLinkToken; readonly expiresAt: Date };

/**
 * For the operator: makes a link with which its reader opens an account for this address
 * (accounts/set-password-by-link.ts). Nobody can be invited while nobody may sign up.
 */
export const invite =
  (
    { accounts, links, clock, ids, secrets }: Ports,
    { signUp: mode = "open" }: Pick<ApplicationSettings, "signUp"> = {},
  ) =>
  async (email: Email): Promise<Result<Invitation, EmailTaken | SignUpRefused>> => {
    if (mode === "closed") return err({ kind: "sign_up_refused", mode });
    if ((await accounts.findByEmail(email)) !== undefined) return err({ kind: "email_taken", email });
    const [token, now] = [ids.passwordLinkToken(), clock.now()];
    const link = openPasswordLink(email, secrets.sha256(token), now, INVITATION_SECONDS);
    // Without a maximum: links that strangers have asked for must not prevent it.
    await links.insert(link, now, Number.MAX_SAFE_INTEGER);
    return ok({ token, expiresAt: link.expiresAt });
  };
