import { cp } from "node:fs/promises";
import { inject } from "vitest";
import { Installation } from "./service-process.js";

/**
 * An installation whose database is migrated and that has its certificate, as after a first start, which takes three
 * times as long as later ones. For slow, growth and kill tests.
 */
export const migratedInstallation = async (environment: Record<string, string> = {}): Promise<Installation> => {
  const installation = await Installation.create(environment);
  // An empty log stays beside a closed file until the driver collects the statements, which may be at any moment.
  const filter = (file: string) => !/-(shm|wal)$/.test(file);
  await cp(inject("dataTemplate"), installation.dataDir, { recursive: true, filter });
  return installation;
};
