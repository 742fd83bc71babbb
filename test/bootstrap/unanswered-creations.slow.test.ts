import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import { packetsAroundCreation } from "../support/packets-around-creation.js";
import { freshDatabase } from "../support/postgres.js";
import { RawConnection } from "../support/raw-connection.js";
import { RestClient } from "../support/rest-client.js";
import { Installation } from "../support/service-process.js";

const JSON_BODY = JSON.stringify({ prompt: "a quiet lake", resolution: "1k" });
const CREDITS = 100;

/** The same packets as in test/adapters/http/unanswered-creations.test.ts, with the real times of the databases. */
describe.each([
  ["SQLite", () => migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "60000" })],
  [
    "PostgreSQL",
    async () =>
      Installation.create({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "60000", DATABASE_URL: await freshDatabase() }),
  ],
])("a creation on the built service with %s", (_, install) => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await install();
    await installation.start();
  });
  afterAll(() => installation.remove());

  it("is answered if it is charged, whatever the client sends behind it", async () => {
    const rows = packetsAroundCreation(JSON_BODY);
    const outcomes = await Promise.all(
      rows.map(async ({ name, of }) => {
        const email = `${name.replaceAll(/[^a-z]/gi, "")}@example.com`;
        const opened = await installation.command(
          ...["account", "create", "--email", email, "--credits", String(CREDITS), "--key"],
        );
        return { name, of, key: String(opened.json.api_key) };
      }),
    );
    for (const { name, of, key } of outcomes) {
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
