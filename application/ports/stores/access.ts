import type { AccountSuspended } from "../../../domain/accounts/account.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";

/** The API key or the session by which a caller was admitted. */
export type AdmittedBy = { readonly apiKeyId: ApiKeyId } | { readonly sessionSha256: string };

/** What a store asks for in the transaction that writes: it may have ended since the caller was admitted. */
export type Access = AdmittedBy & { readonly now: Date };

/** The account is closed, or the key or the session of the caller has ended. Nothing was written. */
export type AccessEnded = { readonly kind: "access_ended" };

/** An account that is only suspended refuses callers with a key or a session. Operators go on. */
export type AccessRefused = AccessEnded | AccountSuspended;
