import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migratePostgresDatabase } from "../../../../../adapters/persistence/database/postgres/migrate-postgres.js";
import { openPostgresDatabase } from "../../../../../adapters/persistence/database/postgres/open-postgres-database.js";
import type { Database } from "../../../../../adapters/persistence/database/sql/database.js";
import { PostgresServer } from "../../../../support/postgres.js";
import { aProxyTo } from "../../../../support/postgres-proxy.js";

/** The time limits of the service are 5 s. Without them, each of these statements waits for ever. */
const FAILURE_MILLISECONDS_MAX = 30_000;

describe("Database while PostgreSQL is unavailable", () => {
  let server: PostgresServer;
  let database: Database;

  beforeAll(async () => {
    server = await PostgresServer.start();
    await migratePostgresDatabase(server.url);
    database = await openPostgresDatabase(server.url, 3);
  });
  afterAll(async () => {
    await database.close();
    await server.remove();
  });

  it("fails statements within seconds, and works again when PostgreSQL is back", async () => {
    await server.stop();
    const started = Date.now();
    const failed = await Promise.allSettled(Array.from({ length: 12 }, () => database.ping()));
    expect(failed.map(({ status }) => status)).toEqual(Array(12).fill("rejected"));
    expect(Date.now() - started).toBeLessThan(FAILURE_MILLISECONDS_MAX);
    await server.restart();
    await Promise.all(Array.from({ length: 12 }, () => database.ping()));
  });

  it("fails statements within seconds when the server stops responding", async () => {
    const { url, holdAnswers, close } = await aProxyTo(server.url);
    const far = await openPostgresDatabase(url, 2);
    holdAnswers();
    const started = Date.now();
    const failed = await Promise.allSettled(Array.from({ length: 4 }, () => far.ping()));
    expect(failed.map(({ status }) => status)).toEqual(Array(4).fill("rejected"));
    expect(Date.now() - started).toBeLessThan(FAILURE_MILLISECONDS_MAX);
    await far.close();
    close();
  });
});
