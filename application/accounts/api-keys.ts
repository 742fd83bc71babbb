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
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { AccessRefused, AdmittedBy } from "../ports/stores/access.js";
import type { Basics } from "../ports/stores/stores.js";

/** A new key and its secret. The secret is shown once: the store keeps only its digest. */
export type CreatedApiKey = { readonly key: ApiKey; readonly secret: ApiKeySecret };

/** A key with its spending in the current UTC day and month (domain/credits/budget.ts). */
export type KeyWithSpending = { readonly key: ApiKey; readonly spending: Spending };

/** Credits spent by a key in a month, without refunds. */
export type KeySpending = { readonly apiKeyId: ApiKeyId; readonly credits: number };

/** API keys of accounts, and other access that a new password does not end. */
export function apiKeys(
  ports: Pick<ApplicationPorts, "accounts" | "keys" | "orders" | "endpoints" | "clock" | "ids" | "secrets">,
) {
  const { accounts, keys, orders, endpoints, clock } = ports;
  return {
    /**
     * Creates a key; refused without a paid order (specification, Authentication, 3) and above the maximum of live
     * keys. `admittedBy`: of the customer who asks; absent for the operator.
     */
    async createApiKey(
      accountId: AccountId,
      name: string,
      limits: KeyLimits = NO_LIMITS,
      admittedBy?: AdmittedBy,
    ): Promise<Result<CreatedApiKey, NoPaidOrder | TooManyApiKeys | AccessRefused>> {
      const allowed = allowKey(accountId, await orders.countPaid(accountId));
      if (allowed.isErr()) return err(allowed.error);
      const created = newApiKey(ports, accountId, name, limits);
      const access = admittedBy && { ...admittedBy, now: created.key.createdAt };
      return (await keys.insert(created.key, admitKey, access)).map(() => created);
    },

    /** All keys of the account, oldest first, including revoked ones. */
    async listApiKeys(id: AccountId): Promise<Result<readonly KeyWithSpending[], NotFound>> {
      return (await accounts.exists(id))
        ? ok(withSpending(await keys.list(id), await keys.spending(id, clock.now())))
        : err(notFound(`There is no account ${id}.`));
    },

    /** Spending of each key of the account, including revoked ones, in the UTC month of `at`, largest first. */
    async readKeySpending(owner: AccountId, at: Date): Promise<readonly KeySpending[]> {
      return [...(await keys.spending(owner, at))]
        .map(([apiKeyId, { thisMonth }]) => ({ apiKeyId, credits: thisMonth }))
        .sort((a, b) => b.credits - a.credits);
    },

    /** Revokes a key of the account. A revoked key or one of another account gives the same error as an unknown one. */
    async revokeApiKey(owner: AccountId, id: ApiKeyId): Promise<Result<void, NotFound>> {
      const ownKeys = await keys.listLive(owner);
      return ownKeys.some((key) => key.id === id)
        ? keys.revoke(id, clock.now())
        : err(notFound(`There is no key ${id} on this account.`));
    },

    /** For the operator: revokes a key of any account. */
    revokeAnyApiKey(id: ApiKeyId): Promise<Result<void, NotFound>> {
      return keys.revoke(id, clock.now());
    },

    /**
     * Counts what a new password does not end, and somebody else may have made: live API keys, and endpoints with a
     * URL. `undefined` without any.
     */
    async countLastingAccess(account: AccountId) {
      const lasting = await listLasting(ports, account);
      const counted = { keys: lasting.keys.length, endpoints: lasting.endpoints.length };
      return counted.keys + counted.endpoints > 0 ? counted : undefined;
    },

    /** Ends what `countLastingAccess` counts. */
    async endLastingAccess(account: AccountId): Promise<void> {
      const lasting = await listLasting(ports, account);
      const now = clock.now();
      for (const { id } of lasting.keys) await keys.revoke(id, now);
      for (const { id } of lasting.endpoints) await endpoints.delete(id, account, now);
    },
  };
}

/** Generates a key and its secret; stores nothing. */
export function newApiKey(
  { clock, ids, secrets }: Basics,
  accountId: AccountId,
  name: string,
  limits: KeyLimits,
): CreatedApiKey {
  const secret = ids.apiKeySecret();
  const secretSha256 = secrets.sha256(secret);
  const created = { id: ids.apiKeyId(), accountId, name, secretSha256, createdAt: clock.now() };
  const key = { ...created, revokedAt: undefined, limits, lastUsedAt: undefined, prefix: prefixOf(secret) };
  return { key, secret };
}

const NOTHING: Spending = { today: 0, thisMonth: 0 };

/** Adds the spending to each key. */
export function withSpending(
  keys: readonly ApiKey[],
  spending: ReadonlyMap<ApiKeyId, Spending>,
): readonly KeyWithSpending[] {
  return keys.map((key) => ({ key, spending: spending.get(key.id) ?? NOTHING }));
}

async function listLasting({ keys, endpoints }: Pick<ApplicationPorts, "keys" | "endpoints">, account: AccountId) {
  const listed = await endpoints.list(account);
  return { keys: await keys.listLive(account), endpoints: listed.filter(({ url }) => url !== undefined) };
}
