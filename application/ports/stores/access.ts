import type { AccountSuspended } from "../../../domain/accounts/account.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { SessionToken } from "../../../domain/accounts/session.js";
import type { Secrets } from "../secrets.js";

/** The API key or the session by which a caller was admitted. */
export type AdmittedBy = { readonly apiKeyId: ApiKeyId } | { readonly session: SessionToken };

/** What a store asks for in the transaction that writes: it may have ended since the caller was admitted. */
export type Access = ({ readonly apiKeyId: ApiKeyId } | { readonly sessionSha256: string }) & { readonly now: Date };

/** The account is closed, or the key or the session of the caller has ended. Nothing was written. */
export type AccessEnded = { readonly kind: "access_ended" };

/** An account that is only suspended refuses callers with a key or a session. Operators go on. */
export type AccessRefused = AccessEnded | AccountSuspended;

/** `undefined`: nobody in particular was admitted, and the account must only be open. */
export function accessOf(
  secrets: Pick<Secrets, "sha256">,
  admittedBy: AdmittedBy | undefined,
  now: Date,
): Access | undefined {
  if (admittedBy === undefined) return undefined;
  return "session" in admittedBy ? { sessionSha256: secrets.sha256(admittedBy.session), now } : { ...admittedBy, now };
}
