import { join } from "node:path";
import { migratePostgresDatabase } from "../../adapters/persistence/database/postgres/migrate-postgres.js";
import { openPostgresDatabase } from "../../adapters/persistence/database/postgres/open-postgres-database.js";
import { openSqliteDatabase } from "../../adapters/persistence/database/sqlite/open-sqlite-database.js";
import { administer, databaseUrl, PostgresServer } from "../support/postgres.js";
import { Installation } from "../support/service-process.js";
import type { AnyDatabase } from "../support/sql-stores.js";
import { startScript } from "./load/processes.js";
import { quantile } from "./statistics.js";

/** What `run.ts` runs: each option is `--NAME VALUE`, and has a default. */
export type Scenario<Name extends string = string> = {
  readonly options: Readonly<Record<Name, string>>;
  readonly run: (rig: Rig, options: Readonly<Record<Name, string>>) => Promise<void>;
};

export const DATABASES = ["sqlite", "postgres"] as const;
export type DatabaseKind = (typeof DATABASES)[number];

/** The databases that an option names: one, or both if it is empty. */
export const databasesOf = (named: string): readonly DatabaseKind[] =>
  DATABASES.filter((kind) => named === "" || kind === named);

export type Installed = {
  /** Not started yet: its database is filled first. */
  readonly service: Installation;
  readonly openDatabase: () => Promise<AnyDatabase>;
};

type Limits = { readonly max?: number; readonly min?: number };

/** Starts what scenarios need and ends it; collects their figures, and what is wrong. */
export class Rig {
  /** What is wrong, in sentences. */
  readonly problems: string[] = [];
  readonly #figures: string[] = [];
  readonly #ends: (() => unknown)[] = [];
  /** Makes a migrated database, and returns its URL. */
  readonly freshPostgres: () => Promise<string>;
  #server: Promise<PostgresServer> | undefined;
  #databases = 0;

  /** Tests pass what makes a database on their server. */
  constructor(freshPostgres?: () => Promise<string>) {
    this.freshPostgres = freshPostgres ?? (() => this.#migratedDatabase());
  }

  /** `end` is called in the end, those that are added later first. */
  defer(end: () => unknown): void {
    this.#ends.push(end);
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }

  /** An installation of the service without demo account. */
  async install(
    kind: DatabaseKind,
    environment: Record<string, string> = {},
    fill: (database: AnyDatabase) => Promise<unknown> = async () => {},
  ): Promise<Installed> {
    const url = kind === "postgres" ? await this.freshPostgres() : undefined;
    const service = await Installation.create({ DEMO: "false", ...(url && { DATABASE_URL: url }), ...environment });
    this.defer(() => service.remove());
    const openDatabase = async () =>
      url === undefined ? openSqliteDatabase(join(service.dataDir, "panorama.sqlite")) : openPostgresDatabase(url, 2);
    const database = await openDatabase();
    await fill(database);
    if (url !== undefined) await database.sql("analyze");
    await database.close();
    return { service, openDatabase };
  }

  /** The environment of a service whose provider answers at once, and is not asked again unless `more` says so. */
  async instantProvider(more: Record<string, string> = {}): Promise<Record<string, string>> {
    const upstream = await startScript("load/instant-replicate.ts");
    this.defer(() => upstream.stop());
    return {
      PROVIDER: "replicate",
      REPLICATE_API_KEY: "r8_bench",
      REPLICATE_BASE_URL: `${upstream.origin}/v1`,
      PROVIDER_CALLS_PER_SECOND: "100000",
      PROVIDER_POLL_MS: "3600000",
      GENERATION_DEADLINE_MS: "36000000",
      ...more,
    };
  }

  /** The server on which this rig has made its databases, with durable commits as in production. */
  postgresServer(): Promise<PostgresServer> {
    this.#server ??= PostgresServer.start({ durable: true }).then((server) => {
      this.defer(() => server.remove());
      return server;
    });
    return this.#server;
  }

  async #migratedDatabase(): Promise<string> {
    const { url: server } = await this.postgresServer();
    const name = `rig_${++this.#databases}`;
    await administer(server, `create database ${name}`);
    const url = databaseUrl(server, name);
    await migratePostgresDatabase(url);
    return url;
  }

  expect(isRight: boolean, problem: string): void {
    if (!isRight) this.problems.push(problem);
  }

  /** A line of the table that is printed in the end. Its median must be within the limits. */
  figure(name: string, unit: string, given: number | readonly number[], { max, min }: Limits = {}): void {
    const values = typeof given === "number" ? [given] : given;
    const [least, median, most] = [0, 0.5, 1].map((share) => quantile(values, share)) as [number, number, number];
    const spread = values.length > 1 ? ` (${inDigits(least)} to ${inDigits(most)})` : "";
    const limit = max !== undefined ? `at most ${max}` : min !== undefined ? `at least ${min}` : "";
    this.#figures.push(`| ${name} | ${inDigits(median)}${spread} ${unit} | ${limit} |`);
    const isWithin = median <= (max ?? Number.POSITIVE_INFINITY) && median >= (min ?? Number.NEGATIVE_INFINITY);
    this.expect(isWithin, `${name}: ${inDigits(median)} ${unit}, ${limit}`); // also a figure that is not a number
  }

  report(): void {
    if (this.#figures.length > 0) console.log("| what | median (least to most) | limit |\n|---|---|---|");
    for (const line of this.#figures) console.log(line);
    for (const problem of this.problems) console.error(`FAILED: ${problem}`);
  }
}

const inDigits = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));
