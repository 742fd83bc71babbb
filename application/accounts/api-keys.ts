import { err, ok, type Result } from "neverthrow";
import {
  type ApiKey,
  type ApiKeyId,
  type ApiKeySecret,
  admitKey,
  allowKey,
  type NoPaidOrder,
  prefixOf,
  type TooManyApiKeys,
} from "../../domain/accounts/api-key.js";
import { type KeyLimits, NO_LIMITS } from "../../domain/accounts/key-limits.js";
import type { Spending } from "../../domain/credits/budget.js";
import type { AccountId } from "../../domain/ids.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Secrets } from "../ports/secrets.js";
import type { AccessRefused, AdmittedBy } from "../ports/stores/access.js";
import type { AccountStore, ApiKeyStore } from "../ports/stores/account-stores.js";
import type { OrderStore } from "../ports/stores/ledger-store.js";

/** A new key and its secret. The secret is shown once: the store keeps only its digest. */
export type CreatedApiKey = { readonly key: ApiKey; readonly secret: ApiKeySecret };

/** Ports of `newApiKey`. */
export type NewApiKeyPorts = {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "apiKeyId" | "apiKeySecret">;
  readonly secrets: Pick<Secrets, "sha256">;
};

/** Generates a key and its secret; stores nothing. */
export const newApiKey = (
  { clock, ids, secrets }: NewApiKeyPorts,
  accountId: AccountId,
  name: string,
  limits: KeyLimits,
): CreatedApiKey => {
  const secret = ids.apiKeySecret();
  const secretSha256 = secrets.sha256(secret);
  const created = { id: ids.apiKeyId(), accountId, name, secretSha256, createdAt: clock.now() };
  const key = { ...created, revokedAt: undefined, limits, lastUsedAt: undefined, prefix: prefixOf(secret) };
  return { key, secret };
};

type CreateApiKeyPorts = NewApiKeyPorts & {
  readonly orders: Pick<OrderStore, "countPaid">;
  readonly keys: Pick<ApiKeyStore, "insert">;
};

/**
 * Creates a key; refused without a paid order (specification, Authentication, 3) and above the maximum of live keys.
 * `admittedBy`: of the customer who asks; absent for the operator.
 */
export const createApiKey =
  (ports: CreateApiKeyPorts) =>
  async (
    accountId: AccountId,
    name: string,
    limits: KeyLimits = NO_LIMITS,
    admittedBy?: AdmittedBy,
  ): Promise<Result<CreatedApiKey, NoPaidOrder | TooManyApiKeys | AccessRefused>> => {
    const allowed = allowKey(accountId, await ports.orders.countPaid(accountId));
    if (allowed.isErr()) return err(allowed.error);
    const created = newApiKey(ports, accountId, name, limits);
    const access = admittedBy && { ...admittedBy, now: created.key.createdAt };
    return (await ports.keys.insert(created.key, admitKey, access)).map(() => created);
  };

type ListApiKeysPorts = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly keys: Pick<ApiKeyStore, "list" | "spending">;
  readonly clock: Pick<Clock, "now">;
};

/** A key with its spending in the current UTC day and month (domain/credits/budget.ts). */
export type KeyWithSpending = { readonly key: ApiKey; readonly spending: Spending };

const NOTHING: Spending = { today: 0, thisMonth: 0 };

/** Adds the spending to each key. */
export const withSpending = (
  keys: readonly ApiKey[],
  spending: ReadonlyMap<ApiKeyId, Spending>,
): readonly KeyWithSpending[] => keys.map((key) => ({ key, spending: spending.get(key.id) ?? NOTHING }));

/** All keys of the account, oldest first, including revoked ones. */
export const listApiKeys =
  ({ accounts, keys, clock }: ListApiKeysPorts) =>
  async (id: AccountId): Promise<Result<readonly KeyWithSpending[], NotFound>> =>
    (await accounts.exists(id))
      ? ok(withSpending(await keys.list(id), await keys.spending(id, clock.now())))
      : err(notFound(`There is no account ${id}.`));

/** Credits spent by a key in a month, without refunds. */
export type KeySpending = { readonly apiKeyId: ApiKeyId; readonly credits: number };

/** Spending of each key of the account, including revoked ones, in the UTC month of `at`, largest first. */
export const readKeySpending =
  ({ keys }: { readonly keys: Pick<ApiKeyStore, "spending"> }) =>
  async (owner: AccountId, at: Date): Promise<readonly KeySpending[]> =>
    [...(await keys.spending(owner, at))]
      .map(([apiKeyId, { thisMonth }]) => ({ apiKeyId, credits: thisMonth }))
      .sort((a, b) => b.credits - a.credits);

type RevokeApiKeyPorts = {
  readonly keys: Pick<ApiKeyStore, "listLive" | "revoke">;
  readonly clock: Pick<Clock, "now">;
};

/** Revokes a key of the account. A foreign or revoked key gives the same error as an unknown one. */
export const revokeApiKey =
  ({ keys, clock }: RevokeApiKeyPorts) =>
  async (owner: AccountId, id: ApiKeyId): Promise<Result<void, NotFound>> => {
    const ownKeys = await keys.listLive(owner);
    return ownKeys.some((key) => key.id === id)
      ? keys.revoke(id, clock.now())
      : err(notFound(`There is no key ${id} on this account.`));
  };

type RevokeAnyApiKeyPorts = { readonly keys: Pick<ApiKeyStore, "revoke">; readonly clock: Pick<Clock, "now"> };

/** For the operator: revokes a key of any account. */
export const revokeAnyApiKey =
  ({ keys, clock }: RevokeAnyApiKeyPorts) =>
  (id: ApiKeyId): Promise<Result<void, NotFound>> =>
    keys.revoke(id, clock.now());
