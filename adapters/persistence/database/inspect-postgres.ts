import type { Clock } from "../../../application/ports/clock.js";
import { inspectQueue, type QueueInspection } from "./inspect-queue.js";
import { postgresDatabase, requireWritable } from "./postgres/open-postgres-database.js";
import { type MigrationState, migrationState } from "./schema/migration-state.js";
import { cannotConnect } from "./sql/database-error.js";
import { postgresTime } from "./sql/database-time.js";

/** The state of a PostgreSQL server, and of the service's database in it. */
export type PostgresInspection = {
  /** Such as `18.4`. */
  readonly version: string;
  readonly majorVersion: number;
  /** Of all clients together. */
  readonly connectionsMax: number;
  readonly migrations: MigrationState;
  /** `undefined` before the migrations have run. */
  readonly queue: QueueInspection | undefined;
  /** Of the fastest of a few statements. */
  readonly latencyMilliseconds: number;
  /** Difference of the server's clock to this machine's; negative if it is behind. */
  readonly aheadMilliseconds: number;
};

const MEASUREMENTS = 5;

/** Reads the database, and changes nothing. Throws a `DatabaseError` if it cannot be reached. */
export async function inspectPostgres(url: string, clock: Pick<Clock, "now">): Promise<PostgresInspection> {
  const database = postgresDatabase(url, 1);
  try {
    await database.ping().catch((error: unknown) => {
      throw cannotConnect(error);
    });
    await requireWritable(database);
    const [server] = await database.sql(
      `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
        current_setting('max_connections')::int as connections`,
    );
    const measurements = [];
    for (let n = 0; n < MEASUREMENTS; n += 1) {
      const sentAt = clock.now().getTime();
      const start = performance.now();
      const time = await postgresTime(database.sql);
      const latency = performance.now() - start;
      measurements.push({ latency, ahead: time - (sentAt + latency / 2) });
    }
    const migrations = migrationState(await database.recordedSteps());
    const [fastest] = measurements.sort((a, b) => a.latency - b.latency);
    return {
      version: String(server?.version).split(" ")[0] ?? "",
      majorVersion: Math.floor(Number(server?.number) / 10_000),
      connectionsMax: Number(server?.connections),
      migrations,
      queue: migrations.kind === "current" ? await inspectQueue(database) : undefined,
      latencyMilliseconds: fastest?.latency ?? 0,
      aheadMilliseconds: fastest?.ahead ?? 0,
    };
  } finally {
    await database.close();
  }
}
