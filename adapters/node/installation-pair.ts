import { makeSigningPair, type SigningPair } from "../imaging/provenance/signing-pair.js";
import { SqlInstallationSecrets } from "../persistence/accounts/sql-installation-secrets.js";
import type { Database } from "../persistence/database/sql/database.js";

const NAME = "c2pa-signing-pair";

/** With what an installation signs its pictures. It is made at the first time, in the database, for all processes. */
export const installationPair = async (database: Database, now: Date): Promise<SigningPair> =>
  JSON.parse(
    await new SqlInstallationSecrets(database).shared(NAME, async () => JSON.stringify(await makeSigningPair(now))),
  ) as SigningPair;
