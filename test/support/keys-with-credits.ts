import { randomUUID } from "node:crypto";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { createApiKey } from "../../application/accounts/create-api-key.js";
import { openAccount } from "../../application/accounts/open-account.js";
import type { Email } from "../../domain/account.js";
import { credits } from "../../domain/credits.js";
import { type AnyDatabase, sqlStores } from "./sql-stores.js";

/** Opens so many accounts, each with credits and `keysOfEach` keys, and returns all keys. Without passwords: hashing takes longest. */
export const keysWithCredits = async (
  database: AnyDatabase,
  accounts: number,
  amount: number,
  keysOfEach = 1,
): Promise<string[]> => {
  const outside = { clock: new SystemClock(), ids: new RandomIds(), secrets: new NodeSecrets() };
  const ports = { ...sqlStores(database), ...outside };
  const keys: string[] = [];
  for (let n = 0; n < accounts; n += 1) {
    const email = `${randomUUID()}@example.com` as Email;
    const opened = await openAccount(ports)({ email, credits: credits(amount), keyName: "1" });
    const { account, secret } = opened._unsafeUnwrap();
    keys.push(secret ?? "");
    for (let more = 1; more < keysOfEach; more += 1) {
      keys.push((await createApiKey(ports)(account.id, "more"))._unsafeUnwrap().secret);
    }
  }
  return keys;
};
