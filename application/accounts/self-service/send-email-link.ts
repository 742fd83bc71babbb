import { err, ok, type Result } from "neverthrow";
import { type Account, parseEmail } from "../../../domain/accounts/account.js";
import { openPasswordLink, PASSWORD_LINKS_MAX } from "../../../domain/accounts/password.js";
import type { RateLimited } from "../../../domain/credits/rate-limit.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import { partyNamed } from "../../party-named.js";
import type { Clock } from "../../ports/clock.js";
import type { Ids } from "../../ports/ids.js";
import type { Mail } from "../../ports/mail.js";
import type { HashingBusy } from "../../ports/secrets.js";
import type { PasswordLinkStore } from "../../ports/stores/accounts/password-link-store.js";
import {
  type CredentialsPorts,
  checkOwnPassword,
  type OwnPassword,
  type WrongLogin,
} from "../sessions/check-credentials.js";
import { emailLinkDigest } from "./email-link-digest.js";

type Ports = CredentialsPorts & {
  readonly links: Pick<PasswordLinkStore, "insert">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "passwordLinkToken">;
  readonly mail: Mail;
};

/** The address is that of the account already. */
export type SameEmail = { readonly kind: "same_email" };

/**
 * Sends a link to the new address of an account, whose owner knows the password. Nothing changes until the link is
 * followed (confirm-email.ts). An address that has an account gets a letter without a link. The result, the time and
 * what is stored do not tell whether it has one.
 */
export const sendEmailLink =
  (ports: Ports) =>
  async (
    account: Account,
    { email, ...own }: OwnPassword & { readonly email: string },
    signal?: AbortSignal,
  ): Promise<Result<void, InvalidRequest | SameEmail | WrongLogin | RateLimited | HashingBusy>> => {
    const { accounts, links, rateLimits, clock, ids, secrets, mail } = ports;
    const parsed = parseEmail(email);
    if (parsed.isErr()) return err(parsed.error);
    const to = parsed.value;
    if (to === account.email) return err({ kind: "same_email" });
    const proof = await checkOwnPassword(ports, account, own, signal);
    if (proof.isErr()) return err(proof.error);
    const admitted = await rateLimits.admit(partyNamed(secrets, `address ${own.remoteAddress}`), "mail");
    if (admitted.isErr()) return err(admitted.error);
    const token = ids.passwordLinkToken();
    const now = clock.now();
    const link = openPasswordLink(to, emailLinkDigest(secrets, account.id, token), now);
    const stored = await links.insert(link, now, PASSWORD_LINKS_MAX);
    const isTaken = (await accounts.findByEmail(to)) !== undefined;
    if (stored) {
      await mail.post(
        isTaken ? { kind: "email_in_use", to } : { kind: "confirm_email", to, token, accountId: account.id },
      );
    }
    return ok(undefined);
  };
