import type { TestProject } from "vitest/node";
import { migratePostgresDatabase } from "../../adapters/persistence/postgres-database.js";
import { administer, databaseUrl, PostgresServer, TEMPLATE_DATABASE } from "./postgres.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Of a PostgreSQL server on which the tests make databases of their own. */
    postgresUrl: string;
  }
}

/** One PostgreSQL for the whole run, with a migrated database to copy. */
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
