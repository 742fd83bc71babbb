import { resolve } from "node:path";
import { tokens } from "../tokens.js";
import { type Command, text } from "./command.js";
import { refused } from "./command-error.js";

export const backup: Command = {
  words: "backup",
  about: "Copies the SQLite database to a new file while the service runs. For PostgreSQL use pg_dump.",
  usage: "FILE",
  options: {},
  positional: "file",
  required: ["file"],
  example: "backup /backup/panorama.sqlite",
  run: async (service, values) => {
    const backupDatabase = await service.get(tokens.backupDatabase);
    const file = resolve(text(values, "file"));
    const copied = await backupDatabase(file);
    return copied.map(() => ({ json: { file }, lines: [`the database is copied to ${file}`] })).mapErr(refused);
  },
};
