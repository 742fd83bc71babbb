import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { openSqliteDatabase } from "../../../adapters/persistence/sqlite/open-sqlite-database.js";
import { fill } from "./data.js";

const databases = new Map<string, Promise<string>>();

/** A database of its own, with the same tables and accounts as the service's. */
const databaseIn = (folder: string): Promise<string> => {
  const known = databases.get(folder);
  if (known !== undefined) return known;
  const made = (async () => {
    const file = join(folder, `${randomUUID()}.sqlite`);
    const database = await openSqliteDatabase(file);
    await fill(database);
    await database.close();
    return file;
  })();
  databases.set(folder, made);
  return made;
};

/** Creations a second of the bare driver (sqlite-commits.ts). */
export const creationsPerSecond = async (folder: string, seconds: number): Promise<number> => {
  const script = new URL("sqlite-commits.ts", import.meta.url).pathname;
  const args = ["--import", "tsx", script, await databaseIn(folder), String(seconds)];
  return Number((await promisify(execFile)(process.execPath, args)).stdout);
};
