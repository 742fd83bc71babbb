import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { Client } from "undici";
import { Router } from "../../../adapters/http/router.js";
import type { Dialect } from "../../../adapters/persistence/database/sql/database.js";
import { openSqliteFile } from "../../../adapters/persistence/database/sqlite/open-sqlite-file.js";
import { readBacklog } from "../../../adapters/persistence/tasks/backlog.js";
import { createApplication } from "../../../application/create-application.js";
import type { ScheduledWork } from "../../../application/ports/clock.js";
import { readConfig } from "../../../bootstrap/config.js";
import { createService, type Service } from "../../../bootstrap/service.js";
import { tokens } from "../../../bootstrap/tokens.js";
import type { Rate } from "../../../domain/credits/rate-limit.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import type { Installation } from "../../support/service-process.js";
import type { DatabaseKind, Rig } from "../rig.js";
import { type GrowthRequest, ORIGIN } from "./requests.js";
import type { Execute } from "./seed.js";

/** No row of the test meets them. */
const LIMITS = { limits: { readsPerMinute: 6000, writesPerMinute: 600 } };
/** The same for the forms of an account, for which operators have no setting. */
const FORMS = { limit: 600, windowSeconds: 60 };

/** A whole service on a database that `seed` has filled, without background work. */
export class GrownService {
  /** "GET /account" and so on, of every route that the server has. */
  readonly routes: ReadonlySet<string>;
  /** What `GET /metrics` reads once in ten seconds: of its runs here, only the first one reads it. */
  readonly readBacklog: () => Promise<unknown>;
  /** For commands. */
  readonly service: Service;
  readonly origin: string;
  readonly dataDir: string;
  readonly #client: Client;
  #sent = 0;

  private constructor(
    routes: ReadonlySet<string>,
    { environment, dataDir }: Installation,
    readBacklog: () => Promise<unknown>,
    service: Service,
  ) {
    this.service = service;
    this.routes = routes;
    this.readBacklog = readBacklog;
    this.origin = `http://127.0.0.1:${environment.PORT}`;
    this.dataDir = dataDir;
    this.#client = new Client(this.origin);
  }

  /** Seeds a database, and opens the service on it. */
  static async start(rig: Rig, kind: DatabaseKind, seed: Seed, more?: More): Promise<GrownService> {
    return GrownService.open(rig, await seeded(rig, kind, seed), more);
  }

  static async open(rig: Rig, installation: Installation, more?: More): Promise<GrownService> {
    const config = readConfig(installation.environment)._unsafeUnwrap();
    const { rates, activeMax } = config.policy;
    const kinds = Object.keys(rates).map((kind) => [kind, more?.rate]);
    const policy: PanoramaPolicy = {
      ...config.policy,
      activeMax: more?.activeMax ?? activeMax,
      rates: more === undefined ? { ...rates, form: FORMS } : Object.fromEntries(kinds),
    };
    const service = createService({ ...config, policy });
    await service.loadServer();
    const routes = new Set<string>();
    const { route } = Router.prototype;
    Router.prototype.route = function (this: Router, method, path, ...rest) {
      routes.add(`${method.toUpperCase()} ${path}`);
      return route.call(this, method, path, ...rest);
    };
    const server = await service.get(tokens.httpServer);
    Router.prototype.route = route;
    await server.start();
    const { sql } = await service.get(tokens.database);
    const grown = new GrownService(routes, installation, () => readBacklog(sql, new Date()), service);
    rig.defer(async () => {
      await grown.#client.destroy();
      await server.stop(0);
      await service.close();
    });
    return grown;
  }

  /** The background work of the service, for one run at a time. */
  async works(): Promise<readonly ScheduledWork[]> {
    const part = this.service.get;
    let all: readonly ScheduledWork[] = [];
    createApplication({
      ports: {
        ...(await part(tokens.stores)),
        clock: await part(tokens.clock),
        ids: await part(tokens.ids),
        secrets: await part(tokens.secrets),
        provider: await part(tokens.provider),
        storage: await part(tokens.storage),
        imaging: await part(tokens.imaging),
        mail: await part(tokens.mail),
        payments: await part(tokens.payments),
        webhookSender: await part(tokens.webhookSender),
        signals: await part(tokens.signals),
        eventSignals: await part(tokens.eventSignals),
        reporter: await part(tokens.reporter),
        schedule: (works) => {
          all = works;
          return { start: () => {}, wake: () => {}, stop: async () => {} };
        },
      },
      settings: { ...(await part(tokens.config)), processes: "several" },
    });
    return all;
  }

  /** Sends the request and reads its answer. Resolves to the milliseconds that it took. */
  async milliseconds(method: string, request: GrowthRequest): Promise<number> {
    const started = performance.now();
    const { statusCode, body } = await this.#client.request({
      method: method as "GET",
      path: request.path,
      headers: { ...request.headers, "x-forwarded-for": networkOf(this.#sent++) },
      body: request.body ?? null,
    });
    if (request.events === undefined || statusCode !== 200) await body.dump({ limit: Number.MAX_SAFE_INTEGER });
    else {
      let text = "";
      for await (const chunk of body) {
        text += chunk;
        if (text.split("\nevent: ").length > request.events) break;
      }
    }
    if (statusCode !== request.status) throw new Error(`${method} ${request.path}: ${statusCode}`);
    return performance.now() - started;
  }
}

/**
 * Each request has a network of its own: the limits of visitors (adapters/http/limits/visitor-limits.ts) refuse none.
 */
const networkOf = (request: number): string => `198.18.${Math.floor(request / 256) % 256}.${request % 256}`;

type Seed = (run: Execute, dialect: Dialect) => Promise<void>;
/** The active tasks of an account, and all its rates. */
type More = { readonly activeMax: number; readonly rate: Rate };

/** An installation whose database `seed` has filled. */
export const seeded = async (rig: Rig, kind: DatabaseKind, seed: Seed): Promise<Installation> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-growth-"));
  rig.defer(() => rm(folder, { recursive: true, force: true }));
  const settings = join(folder, "settings.json");
  await writeFile(settings, JSON.stringify(LIMITS));
  const { service } = await rig.install(kind, {
    PUBLIC_URL: ORIGIN,
    PANORAMA_SETTINGS: settings,
    LOG_LEVEL: "silent",
    TRUSTED_PROXIES: "127.0.0.0/8",
  });
  const url = service.environment.DATABASE_URL;
  if (url === undefined) await seedSqlite(join(service.dataDir, "panorama.sqlite"), (run) => seed(run, "sqlite"));
  else await seedPostgres(url, (run) => seed(run, "postgresql"));
  return service;
};

const seedPostgres = async (url: string, seed: (run: Execute) => Promise<void>): Promise<void> => {
  const client = new pg.Client(url); // without the time limits of the service
  await client.connect();
  await client.query("set session_replication_role = replica"); // no checks of foreign keys: a quarter of the time
  await seed(async (statement) => void (await client.query(statement)));
  await client.query("vacuum analyze");
  await client.end();
};

const seedSqlite = async (file: string, seed: (run: Execute) => Promise<void>): Promise<void> => {
  const connection = openSqliteFile(file);
  connection.execute("pragma synchronous = off; pragma cache_size = -1000000");
  connection.execute("begin");
  await seed((statement) => connection.execute(statement));
  connection.execute("commit");
  connection.execute("pragma wal_checkpoint(truncate)");
  connection.close();
};
