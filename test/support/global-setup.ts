import { existsSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { TestProject } from "vitest/node";
import { tlsCertificate } from "../../adapters/http/servers/tls-certificate.js";
import { migratePostgresDatabase } from "../../adapters/persistence/database/postgres/migrate-postgres.js";
import { openSqliteDatabase } from "../../adapters/persistence/database/sqlite/open-sqlite-database.js";
import { makePackages } from "../packed/make-packages.js";
import { administer, databaseUrl, PostgresServer, TEMPLATE_DATABASE } from "./postgres.js";

declare module "vitest" {
  interface ProvidedContext {
    /** URL of the PostgreSQL server on which the tests create their own databases. */
    postgresUrl: string;
    /** Path of a data directory, to copy: with a migrated `panorama.sqlite` without rows, and the TLS certificate. */
    dataTemplate: string;
    /** The PATH of this run, and one where only `PROGRAMS` are. */
    paths: { readonly whole: string; readonly restricted: string };
  }
}

/** Prepares, at the same time, what the tests of this run need. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const paths = [...project.vitest.state.getPaths()];
  const needsDatabases = paths.some((path) => /\.(slow|long|program)\.test\.ts$/.test(path));
  const ends = await Promise.all([
    linkPrograms(project),
    needsDatabases && startPostgres(project),
    needsDatabases && makeDataTemplate(project),
    paths.some((path) => path.includes("/test/packed/")) && makePackages(),
  ]);
  return async () => {
    for (const end of ends) if (end) await end();
  };
};

/** What the tests of `npm test` may start by its name. Every POSIX system has the last three; npx uses `sh`. */
const PROGRAMS = ["node", "npm", "npx", "id", "mkfifo", "sh"];

const linkPrograms = async (project: TestProject) => {
  const whole = process.env.PATH ?? "";
  const restricted = await mkdtemp(join(tmpdir(), "panorama-programs-"));
  for (const name of PROGRAMS) {
    const files = whole.split(delimiter).map((folder) => join(folder, name));
    const file = name === "node" ? process.execPath : files.find((one) => existsSync(one));
    if (file !== undefined) await symlink(file, join(restricted, name));
  }
  project.provide("paths", { whole, restricted });
  return () => rm(restricted, { recursive: true });
};

/** One server for the whole test run, with a migrated database to copy. */
const startPostgres = async (project: TestProject) => {
  const given = process.env.TEST_POSTGRES_URL;
  const server = given === undefined ? await PostgresServer.start() : undefined;
  const url = server?.url ?? given ?? "";
  await administer(url, `drop database if exists ${TEMPLATE_DATABASE}`);
  await administer(url, `create database ${TEMPLATE_DATABASE}`);
  await migratePostgresDatabase(databaseUrl(url, TEMPLATE_DATABASE));
  project.provide("postgresUrl", url);
  return async () => server?.remove();
};

const makeDataTemplate = async (project: TestProject) => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-template-"));
  await (await openSqliteDatabase(join(folder, "panorama.sqlite"))).close();
  await tlsCertificate(folder, "panorama.example", new Date());
  project.provide("dataTemplate", folder);
  return () => rm(folder, { recursive: true, force: true });
};
