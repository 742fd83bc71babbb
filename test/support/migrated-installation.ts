import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { Installation } from "./service-process.js";

/** An installation whose database is migrated, without a process that does it. For slow and growth tests. */
export const migratedInstallation = async (environment: Record<string, string> = {}): Promise<Installation> => {
  const installation = await Installation.create(environment);
  await copyFile(inject("sqliteTemplate"), join(installation.dataDir, "panorama.sqlite"));
  return installation;
};
