import { join } from "node:path";
import { expect, it } from "vitest";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { createsFiftyWithBudget, keysWithBudget } from "../support/fifty-creations-with-budget.js";
import { migratedInstallation } from "../support/migrated-installation.js";

it("the built service on SQLite accepts of fifty concurrent creations exactly those in the budgets of their keys", async () => {
  const installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
  const database = await openSqliteDatabase(join(installation.dataDir, "panorama.sqlite"));
  try {
    const keys = await keysWithBudget(database);
    await installation.start();
    await createsFiftyWithBudget(keys, [installation.url], database);
    expect(await installation.end("SIGTERM")).toBe(0);
  } finally {
    await installation.remove();
    await database.close();
  }
});
