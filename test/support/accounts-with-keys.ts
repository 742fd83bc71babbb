import { randomUUID } from "node:crypto";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { accounts } from "../../application/accounts/accounts.js";
import { apiKeys, type CreatedApiKey } from "../../application/accounts/api-keys.js";
import type { Email } from "../../domain/accounts/account.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import { credits } from "../../domain/credits/credits.js";
import type { AccountId } from "../../domain/ids.js";
import { RATE_LIMITS } from "../../domain/panorama-policy.js";
import { type AnyDatabase, sqlStores } from "./sql-stores.js";

export type AccountWithKeys = { readonly id: AccountId; readonly keys: readonly CreatedApiKey[] };

/** Opens `wanted` accounts, each with credits and `keysOfEach` keys. Without passwords: hashing takes longest. */
export const accountsWithKeys = async (
  database: AnyDatabase,
  wanted: number,
  amount: number,
  keysOfEach = 1,
  limits = NO_LIMITS,
): Promise<AccountWithKeys[]> => {
  const outside = { clock: new SystemClock(), ids: new RandomIds(), secrets: new NodeSecrets() };
  const stores = sqlStores(database);
  const ports = { ...stores, ...stores.countersAt(outside.clock, RATE_LIMITS), ...outside };
  const opened: AccountWithKeys[] = [];
  while (opened.length < wanted) {
    const email = `${randomUUID()}@example.com` as Email;
    const { account } = (await accounts(ports).open({ email, credits: credits(amount) }))._unsafeUnwrap();
    const keys: CreatedApiKey[] = [];
    while (keys.length < keysOfEach)
      keys.push((await apiKeys(ports).createApiKey(account.id, "test", limits))._unsafeUnwrap());
    opened.push({ id: account.id, keys });
  }
  return opened;
};

/** The secrets of all keys. */
export const secretsOf = (accounts: readonly AccountWithKeys[]): string[] =>
  accounts.flatMap(({ keys }) => keys.map(({ secret }) => secret));
