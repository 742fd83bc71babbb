import { ok } from "neverthrow";
import { tokens } from "../tokens.js";
import type { Command } from "./command.js";

export const migrate: Command = {
  words: "migrate",
  usage: "",
  options: {},
  required: [],
  run: async (service) => {
    const migrateDatabase = await service.get(tokens.migrateDatabase);
    await migrateDatabase();
    return ok({ json: { status: "up_to_date" }, lines: ["the database is up to date"] });
  },
};
