import { ok } from "neverthrow";
import { tokens } from "../tokens.js";
import type { Command } from "./command.js";

export const migrate: Command = {
  words: "migrate",
  usage: "",
  options: {},
  required: [],
  run: async (service) => {
    const { databaseUrl } = await service.get(tokens.config);
    if (databaseUrl === undefined) {
      await service.get(tokens.database); // opening a SQLite database brings it up to date
    } else {
      const { migratePostgresDatabase } = await import("../../adapters/persistence/postgres-database.js");
      await migratePostgresDatabase(databaseUrl);
    }
    return ok({ json: { status: "up_to_date" }, lines: ["the database is up to date"] });
  },
};
