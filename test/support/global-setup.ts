import type { TestProject } from "vitest/node";
import { migratePostgresDatabase } from "../../adapters/persistence/migrate-postgres.js";
import { administer, databaseUrl, PostgresServer, TEMPLATE_DATABASE } from "./postgres.js";

declare module "vitest" {
  interface ProvidedContext {
    /** URL of the PostgreSQL server on which the tests create their own databases. */
    postgresUrl: string;
  }
}

/** Starts one PostgreSQL server for the whole test run, with a migrated database that tests copy. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const given = process.env.TEST_POSTGRES_URL;
  const server = given === undefined ? await PostgresServer.start() : undefined;
  const url = server?.url ?? given ?? "";
  await administer(url, `drop database if exists ${TEMPLATE_DATABASE}`);
  await administer(url, `create database ${TEMPLATE_DATABASE}`);
  await migratePostgresDatabase(databaseUrl(url, TEMPLATE_DATABASE));
  project.provide("postgresUrl", url);
  return async () => server?.remove();
};
