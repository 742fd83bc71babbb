import { randomUUID } from "node:crypto";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { apiKeys, type CreatedApiKey } from "../../application/accounts/api-keys.js";
import { openAccount } from "../../application/accounts/open-account.js";
import type { Email } from "../../domain/accounts/account.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import { credits } from "../../domain/credits/credits.js";
import type { AccountId } from "../../domain/ids.js";
import { type AnyDatabase, sqlStores } from "./sql-stores.js";

export type AccountWithKeys = { readonly id: AccountId; readonly keys: readonly CreatedApiKey[] };

/** Opens so many accounts, each with credits and `keysOfEach` keys. Without passwords: hashing takes longest. */
export const accountsWithKeys = async (
  database: AnyDatabase,
  accounts: number,
  amount: number,
  keysOfEach = 1,
  limits = NO_LIMITS,
): Promise<AccountWithKeys[]> => {
  const outside = { clock: new SystemClock(), ids: new RandomIds(), secrets: new NodeSecrets() };
  const ports = { ...sqlStores(database), ...outside };
  const opened: AccountWithKeys[] = [];
  while (opened.length < accounts) {
    const email = `${randomUUID()}@example.com` as Email;
    const { account } = (await openAccount(ports)({ email, credits: credits(amount) }))._unsafeUnwrap();
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
