import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { tlsCertificate } from "../../adapters/http/servers/tls-certificate.js";
import { migratePostgresDatabase } from "../../adapters/persistence/schema/migrate-postgres.js";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { administer, databaseUrl, PostgresServer, TEMPLATE_DATABASE } from "./postgres.js";
import { runsAny } from "./runs-any.js";

declare module "vitest" {
  interface ProvidedContext {
    /** URL of the PostgreSQL server on which the tests create their own databases. */
    postgresUrl: string;
    /** Path of a data directory, to copy: with a migrated `panorama.sqlite` without rows, and the TLS certificate. */
    dataTemplate: string;
  }
}

/**
 * Starts one PostgreSQL server for the whole test run. Makes what tests copy: a migrated database of each kind and a
 * certificate.
 */
export default async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  if (!runsAny(project, "slow", "growth")) return undefined;
  const given = process.env.TEST_POSTGRES_URL;
  const server = given === undefined ? await PostgresServer.start() : undefined;
  const url = server?.url ?? given ?? "";
  await administer(url, `drop database if exists ${TEMPLATE_DATABASE}`);
  await administer(url, `create database ${TEMPLATE_DATABASE}`);
  await migratePostgresDatabase(databaseUrl(url, TEMPLATE_DATABASE));
  project.provide("postgresUrl", url);

  const folder = await mkdtemp(join(tmpdir(), "panorama-template-"));
  await (await openSqliteDatabase(join(folder, "panorama.sqlite"))).close();
  await tlsCertificate(folder, "panorama.example", new Date());
  project.provide("dataTemplate", folder);
  return async () => {
    await rm(folder, { recursive: true, force: true });
    await server?.remove();
  };
};
