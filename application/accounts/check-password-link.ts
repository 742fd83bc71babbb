import type { Email } from "../../domain/accounts/account.js";
import { parsePasswordLinkToken } from "../../domain/accounts/password-link.js";
import type { Clock } from "../ports/clock.js";
import type { Secrets } from "../ports/secrets.js";
import type { PasswordLinkStore } from "../ports/stores/password-link-store.js";

type Ports = {
  readonly links: Pick<PasswordLinkStore, "find">;
  readonly clock: Pick<Clock, "now">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/** Whether this text is the token of a link that can still set a password. */
export const checkPasswordLink =
  (ports: Ports) =>
  async (text: string): Promise<boolean> =>
    (await emailOfLink(ports, text)) !== undefined;

/** The e-mail address of the link with this token; `undefined` if it can no longer set a password. */
export const emailOfLink = async ({ links, clock, secrets }: Ports, text: string): Promise<Email | undefined> => {
  const token = parsePasswordLinkToken(text);
  return token && links.find(secrets.sha256(token), clock.now());
};
