import { err, ok, type Result } from "neverthrow";
import type { Budgets } from "../credits/budget.js";

/**
 * What an API key may do. `read`: reading requests (`GET`). `create`: writing requests, such as creations and uploads.
 * Neither includes the other one.
 */
export const SCOPES = ["read", "create"] as const;
/** One of `SCOPES`. */
export type Scope = (typeof SCOPES)[number];

/** Chosen when the key is made. The operator may change them. */
export type KeyLimits = Budgets & {
  /** At least one, in the order of `SCOPES`. */
  readonly scopes: readonly Scope[];
  /** From this time on the key is refused; `undefined`: never. */
  readonly expiresAt: Date | undefined;
};

/** Whether a key may be used: its limits without the budgets. */
export type KeyUse = Pick<KeyLimits, "scopes" | "expiresAt">;

/** The limits of a key that may do everything and never expires. */
export const NO_LIMITS: KeyLimits = {
  scopes: SCOPES,
  expiresAt: undefined,
  creditsPerDay: undefined,
  creditsPerMonth: undefined,
};

/** The key was valid until `expiredAt`. */
export type ApiKeyExpired = { readonly kind: "api_key_expired"; readonly expiredAt: Date };
/** The key lacks the scope that the request needs. */
export type MissingScope = { readonly kind: "missing_scope"; readonly scope: Scope };

const ALLOWED: Result<void, never> = ok(undefined);

/** Whether the key may be used now for a request that needs `scope`. */
export const allowUse = (
  { scopes, expiresAt }: KeyUse,
  scope: Scope,
  now: Date,
): Result<void, ApiKeyExpired | MissingScope> => {
  if (expiresAt !== undefined && now.getTime() >= expiresAt.getTime()) {
    return err({ kind: "api_key_expired", expiredAt: expiresAt });
  }
  return scopes.includes(scope) ? ALLOWED : err({ kind: "missing_scope", scope });
};
