import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresDatabase } from "../../adapters/persistence/postgres/open-postgres-database.js";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { accountsWithKeys, secretsOf } from "../support/accounts-with-keys.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { packetsAroundCreation } from "../support/packets-around-creation.js";
import { freshDatabase } from "../support/postgres.js";
import { RawConnection } from "../support/raw-connection.js";
import { RestClient } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";
import type { AnyDatabase } from "../support/sql-stores.js";

const JSON_BODY = JSON.stringify({ prompt: "a quiet lake test:plain", resolution: "1k" });
const CREDITS = 100;

/**
 * The same packets as in test/adapters/http/servers/unanswered-creations.test.ts, with the real times of the databases.
 */
describe.concurrent.each([
  ["SQLite", async () => ({})],
  ["PostgreSQL", async () => ({ DATABASE_URL: await freshDatabase() })],
])("a creation on the built service with %s", (_, settings) => {
  let installation: Installation;
  let database: AnyDatabase;

  beforeAll(async () => {
    installation = await migratedInstallation({
      DEMO: "false",
      LOCAL_PROVIDER_DELAY_MS: "60000",
      ...(await settings()),
    });
    await installation.start();
    const url = installation.environment.DATABASE_URL;
    database = await (url === undefined
      ? openSqliteDatabase(join(installation.dataDir, "panorama.sqlite"))
      : openPostgresDatabase(url, 1));
  });
  afterAll(async () => {
    await database.close();
    await installation.remove();
  });

  it("is answered if it is charged, for any bytes behind it", async () => {
    const rows = packetsAroundCreation(JSON_BODY);
    const keys = secretsOf(await accountsWithKeys(database, rows.length, CREDITS));
    for (const [n, { name, of }] of rows.entries()) {
      const key = keys[n] ?? "";
      const { packets, halfCloses } = of(key);
      const connection = await RawConnection.open(Number(new URL(installation.url).port));
      for (const packet of packets) {
        connection.send(packet);
        await setTimeout(2);
      }
      if (halfCloses) connection.socket.end();
      await Promise.race([connection.all(), setTimeout(1_000)]); // what is not answered then, is refused
      connection.socket.end();
      const received = await connection.all();
      const charged = (CREDITS - (await new RestClient(installation.url, key).credits())) / 4;
      expect([name, received.match(/HTTP\/1\.1 202 /g)?.length ?? 0]).toEqual([name, charged]);
    }
  });
});
