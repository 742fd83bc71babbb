import { resolve } from "node:path";
import { tokens } from "../tokens.js";
import { type Command, text } from "./command.js";

export const backup: Command = {
  words: "backup",
  usage: "FILE",
  options: {},
  positional: "file",
  required: ["file"],
  run: async (service, values) => {
    const backupDatabase = await service.get(tokens.backupDatabase);
    const file = resolve(text(values, "file"));
    return (await backupDatabase(file)).map(() => ({ json: { file }, lines: [`the database is copied to ${file}`] }));
  },
};
