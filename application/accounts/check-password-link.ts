import type { Email } from "../../domain/accounts/account.js";
import { parsePasswordLinkToken } from "../../domain/accounts/password.js";
import type { ApplicationSettings } from "../application-settings.js";
import type { Clock } from "../ports/clock.js";
import type { Secrets } from "../ports/secrets.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { PasswordLinkStore } from "../ports/stores/accounts/password-link-store.js";

type LinkPorts = {
  readonly links: Pick<PasswordLinkStore, "find">;
  readonly clock: Pick<Clock, "now">;
  readonly secrets: Pick<Secrets, "sha256">;
};

type Ports = LinkPorts & { readonly accounts: Pick<AccountStore, "findByEmail"> };

/** What a link does: sets the password of the account with this address, or opens that account with it. */
export type PasswordLinkUse = { readonly email: Email; readonly opensAccount: boolean };

/** What the link with this token still does; `undefined` if it sets no password any more, or the text is no token. */
export const checkPasswordLink =
  (ports: Ports, { signUp: mode = "open" }: Pick<ApplicationSettings, "signUp"> = {}) =>
  async (text: string): Promise<PasswordLinkUse | undefined> => {
    const email = await emailOfLink(ports, text);
    if (email === undefined) return undefined;
    const opensAccount = (await ports.accounts.findByEmail(email)) === undefined;
    return opensAccount && mode === "closed" ? undefined : { email, opensAccount };
  };

/** The e-mail address of the link with this token; `undefined` if it can no longer set a password. */
export const emailOfLink = async ({ links, clock, secrets }: LinkPorts, text: string): Promise<Email | undefined> => {
  const token = parsePasswordLinkToken(text);
  return token && links.find(secrets.sha256(token), clock.now());
};
