import { ok } from "neverthrow";
import { tokens } from "../tokens.js";
import type { Command } from "./common/command.js";

export const migrateCommand: Command = {
  words: "migrate",
  about: "Creates the database, or migrates it to this version. On SQLite, serve does this at startup.",
  usage: "",
  options: {},
  required: [],
  example: "migrate",
  createsDatabase: true,
  run: async (service) => {
    const migrateDatabase = await service.get(tokens.migrateDatabase);
    await migrateDatabase();
    return ok({ json: { status: "up_to_date" }, lines: ["the database is up to date"] });
  },
};
