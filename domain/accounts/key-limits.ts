import { err, ok, type Result } from "neverthrow";
import type { Budgets } from "../credits/budget.js";

/**
 * Permissions of an API key. `read`: reading requests (`GET`). `create`: writing requests, such as creations and
 * uploads. Neither includes the other one.
 */
export const SCOPES = ["read", "create"] as const;
/** One of `SCOPES`. */
export type Scope = (typeof SCOPES)[number];

/** Limits of an API key, set at its creation. Only the operator can change them. */
export type KeyLimits = Budgets & {
  /** At least one, in the order of `SCOPES`. */
  readonly scopes: readonly Scope[];
  /** Time from which on the key is refused; `undefined`: never. */
  readonly expiresAt: Date | undefined;
};

/** Scopes and expiry of a key: its limits without the budgets. */
export type KeyValidity = Pick<KeyLimits, "scopes" | "expiresAt">;

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

/** Checks that the key has not expired and has the scope. */
export const allowUse = (
  { scopes, expiresAt }: KeyValidity,
  scope: Scope,
  now: Date,
): Result<void, ApiKeyExpired | MissingScope> => {
  if (expiresAt !== undefined && now.getTime() >= expiresAt.getTime()) {
    return err({ kind: "api_key_expired", expiredAt: expiresAt });
  }
  return scopes.includes(scope) ? ALLOWED : err({ kind: "missing_scope", scope });
};
