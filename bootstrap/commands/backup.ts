import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { LAST_BACKUP_FILE } from "../../adapters/observability/machine-metrics.js";
import { refused } from "../command-error.js";
import { tokens } from "../tokens.js";
import { type Command, textOf } from "./common/command.js";

export const backup: Command = {
  words: "backup",
  about:
    "Copies the SQLite database of a running service to the new file FILE. With --objects: database and images, to the new folder FILE. For PostgreSQL use pg_dump.",
  usage: "FILE [--objects]",
  options: {
    objects: { type: "boolean", about: "also copy the files of STORAGE=filesystem; FILE is a folder" },
  },
  positional: "file",
  required: ["file"],
  example: "backup /backup/panorama --objects",
  run: async (service, values) => {
    const target = resolve(textOf(values, "file"));
    const { dataDir } = await service.get(tokens.config);
    if (values.objects !== true) {
      const copied = await (await service.get(tokens.backupDatabase))(target);
      if (copied.isOk()) await tellTime(dataDir);
      return copied
        .map(() => ({ json: { file: target }, lines: [`the database is copied to ${target}`] }))
        .mapErr(refused);
    }
    const copied = await (await service.get(tokens.backupWithObjects))(target);
    if (copied.isOk() && copied.value.missing.length === 0) await tellTime(dataDir);
    return copied
      .map(({ objects, missing }) => ({
        json: { folder: target, objects, missing },
        lines: [
          `the database and ${objects} objects are copied to ${target}`,
          ...missing.map((name) => `${name} is missing in the storage itself`),
        ],
        ...(missing.length > 0 && { failed: "failed" as const }),
      }))
      .mapErr(refused);
  },
};

/** For the metric of its age. A backup is good without it. */
const tellTime = (dataDir: string): Promise<void> => writeFile(join(dataDir, LAST_BACKUP_FILE), "").catch(() => {});
