import { parsePasswordLinkToken } from "../../domain/password-link.js";
import type { Clock } from "../ports/clock.js";
import type { PasswordLinkStore } from "../ports/password-link-store.js";
import type { Secrets } from "../ports/secrets.js";

type Ports = {
  readonly links: Pick<PasswordLinkStore, "find">;
  readonly clock: Pick<Clock, "now">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/** What `checkPasswordLink` returns. */
export type CheckPasswordLink = ReturnType<typeof checkPasswordLink>;

/** Whether this text is the token of a link that can still set a password. */
export const checkPasswordLink =
  ({ links, clock, secrets }: Ports) =>
  async (text: string): Promise<boolean> => {
    const token = parsePasswordLinkToken(text);
    return token !== undefined && (await links.find(secrets.sha256(token), clock.now())) !== undefined;
  };
