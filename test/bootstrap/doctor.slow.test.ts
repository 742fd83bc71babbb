import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anAccount, aPaidOrder, aSubmittingTask, noon, openATask } from "../../adapters/contracts/support/builders.js";
import { tlsCertificate } from "../../adapters/http/servers/tls-certificate.js";
import {
  openPostgresDatabase,
  postgresDatabase,
} from "../../adapters/persistence/database/postgres/open-postgres-database.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { type Config, readConfig } from "../../bootstrap/config.js";
import { examine, examineWithout } from "../../bootstrap/doctor/examine.js";
import type { Finding } from "../../bootstrap/doctor/finding.js";
import type { Machine } from "../../bootstrap/doctor/machine.js";
import type { Token } from "../../bootstrap/provide.js";
import { createService } from "../../bootstrap/service.js";
import { tokens } from "../../bootstrap/tokens.js";
import { FakeGcs } from "../support/fake-gcs.js";
import { FakeReplicate, REPLICATE_KEY } from "../support/fake-replicate.js";
import { freePort } from "../support/free-port.js";
import { MailServer, silentServer } from "../support/mail-server.js";
import { freshDatabase } from "../support/postgres.js";
import { EMPTY_TABLES } from "../support/postgres-stores.js";
import { Installation } from "../support/service-process.js";
import { sqlStores } from "../support/sql-stores.js";

const GIBIBYTE = 1024 ** 3;
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
const MAIL_PASSWORD = "hunter22";

const HEALTHY_MACHINE: Machine = {
  platform: "linux",
  nodeVersion: "20.19.0",
  glibcVersion: "2.36",
  openFilesMax: 65_536,
  freeSpace: async () => ({ freeBytes: 100 * GIBIBYTE, freeFiles: 1_000_000 }),
};

const SUPPORTED = "PostgreSQL, a bucket, Replicate, a mail server, and the proxy in front of all";

/** What everybody sees through the proxy. */
type Front = {
  readonly imageStatus: number;
  readonly instead: string | undefined;
  readonly cors: string | undefined;
  readonly healthStatus: number;
};
const HEALTHY_FRONT: Front = { imageStatus: 200, instead: undefined, cors: "*", healthStatus: 200 };

/** One thing that is wrong, and which check finds it. Everything else is as it should be. */
type Fault = {
  readonly name: string;
  readonly status?: Finding["status"]; // otherwise "failed"
  /** A part of the message: the value, and what to do. */
  readonly says: string | RegExp;
  /** The part that `serve` cannot make then, for the same reason, in the same words. */
  readonly stops?: Token<unknown>;
  readonly environment?: () => Readonly<Record<string, string>>;
  readonly machine?: Partial<Machine>;
  readonly front?: Partial<Front>;
  /** The clock of this machine against that of the others. */
  readonly clockMilliseconds?: number;
  readonly plant?: () => Promise<unknown> | unknown;
  readonly repair?: () => Promise<unknown> | unknown;
};

describe(`panorama doctor with ${SUPPORTED}`, () => {
  let folder: string;
  let databaseUrl: string;
  let bucket: FakeGcs;
  let replicate: FakeReplicate;
  let mail: MailServer;
  let closedPort: number;
  const closes: (() => Promise<unknown> | unknown)[] = [];
  /** The proxy is at `localhost`, the bucket's objects are at `127.0.0.1`, which is another origin. */
  let frontPort: number;
  let front = HEALTHY_FRONT;
  let selfSignedPort: number;
  let refusingPort: number;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-test-"));
    await writeFile(join(folder, "a-file"), "");
    [databaseUrl, bucket, replicate, mail, closedPort] = await Promise.all([
      freshDatabase(),
      FakeGcs.start(),
      FakeReplicate.start(),
      MailServer.start(MAIL_PASSWORD),
      freePort(),
    ]);
    const server = createServer((request, response) => {
      if (request.url === "/healthz") return response.writeHead(front.healthStatus).end('{"status":"ok"}');
      const object = bucket.objects.get(request.url?.slice(1) ?? "");
      if (front.cors !== undefined) response.setHeader("access-control-allow-origin", front.cors);
      return response.writeHead(object === undefined ? 404 : front.imageStatus).end(front.instead ?? object?.bytes);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    frontPort = (server.address() as AddressInfo).port;

    const { certificateFile, keyFile } = await tlsCertificate(folder, "localhost", new Date());
    const files = { cert: await readFile(certificateFile), key: await readFile(keyFile) };
    const selfSigned = createHttpsServer(files, (_, response) => response.end('{"status":"ok"}')).listen(0);
    await once(selfSigned, "listening");
    selfSignedPort = (selfSigned.address() as AddressInfo).port;

    const refusing = createTcpServer((socket) => socket.once("data", () => socket.end(WRONG_PASSWORD))).listen(0);
    await once(refusing, "listening");
    refusingPort = (refusing.address() as AddressInfo).port;
    await examine(configOf(), portsOf()); // loads what the checks need, so that the first one is not slow
    closes.push(
      () => server.close(),
      () => selfSigned.close(),
      () => refusing.close(),
    );
  });
  afterAll(async () => {
    await Promise.all([bucket.close(), replicate.close(), mail.end(), ...closes.map((close) => close())]);
    await rm(folder, { recursive: true });
  });

  const healthyEnvironment = (): Record<string, string> => ({
    DATA_DIR: folder,
    DATABASE_URL: databaseUrl,
    DEMO: "false",
    PUBLIC_URL: `http://localhost:${frontPort}`,
    STORAGE: "gcs",
    GCS_BUCKET: bucket.bucket,
    GCS_API_ENDPOINT: bucket.url,
    GCS_PUBLIC_URL: `https://127.0.0.1:${frontPort}`,
    PROVIDER: "replicate",
    REPLICATE_BASE_URL: replicate.baseUrl,
    REPLICATE_API_KEY: REPLICATE_KEY,
    SMTP_URL: `smtp://user:${MAIL_PASSWORD}@127.0.0.1:${mail.port}/?tls.rejectUnauthorized=false`,
    MAIL_FROM: "no-reply@panorama.example",
    LOG_LEVEL: "silent",
  });
  const configOf = (differences: Readonly<Record<string, string>> = {}): Config => {
    const config = readConfig({ ...healthyEnvironment(), ...differences })._unsafeUnwrap();
    const { storage } = config;
    // The bucket's public URL is https; the test's proxy is not.
    return storage.kind === "gcs"
      ? { ...config, storage: { ...storage, publicUrl: storage.publicUrl?.replace("https:", "http:") } }
      : config;
  };
  const portsOf = ({ machine, clockMilliseconds = 0 }: Partial<Fault> = {}) => {
    const clock = new SystemClock();
    const now = () => new Date(Date.now() + clockMilliseconds);
    const shifted = { now, sleep: (milliseconds: number, signal?: AbortSignal) => clock.sleep(milliseconds, signal) };
    return { clock: shifted, ids: new RandomIds(), machine: { ...HEALTHY_MACHINE, ...machine } };
  };
  const sql = async (statement: string) => {
    const database = postgresDatabase(databaseUrl, 1);
    await database.sql(statement).finally(() => database.close());
  };
  const addMigration = (name: string) => () => sql(`insert into schema_migration (name) values ('${name}')`);
  const removeMigration = (name: string) => () => sql(`delete from schema_migration where name = '${name}'`);
  const url = (port: number) => new URL(databaseUrl.replace(/:\d+\//, `:${port}/`)).href;
  const withFiles = { STORAGE: "filesystem", PUBLIC_URL: "" };
  const tls = (differences: Record<string, string> = {}) => ({ ...withFiles, ...differences });

  it("finds nothing, reports every check, and leaves nothing behind", async () => {
    const before = await readdir(folder, { recursive: true });
    const findings = await examine(configOf(), portsOf());
    // A busy machine answers more slowly than a database should.
    const slow = /^PostgreSQL .* answers in [\d.]+ ms, which makes each request slow/;
    expect(findings.filter(({ status, message }) => status !== "ok" && !slow.test(message))).toEqual([
      { name: "TLS listener", status: "not checked", message: expect.stringContaining("There is none") },
    ]);
    expect(findings.map(({ name }) => name)).toEqual([
      "configuration",
      "Node.js",
      "glibc",
      "open files",
      "data directory",
      "disk space",
      "database",
      "migrations",
      "clock",
      "queue",
      "storage",
      "image URL",
      "CORS",
      "provider replicate",
      "ports",
      "TLS listener",
      "public URL",
      "signed marks",
      "mail",
    ]);
    expect(bucket.writes).toBeGreaterThan(0);
    expect(await readdir(folder, { recursive: true })).toEqual(before);
    expect(mail.received).toEqual([]);
    expect(replicate.tasks).toEqual([]);
  });

  const FAULTS: readonly Fault[] = [
    {
      name: "data directory",
      says: /^DATA_DIR .*a-file\/data cannot be used: .*a-file: a file is where a folder must be\. Move it away, or set another/,
      environment: () => ({ DATA_DIR: join(folder, "a-file/data") }),
    },
    {
      name: "data directory",
      status: "warning",
      says: /^There is no DATA_DIR .*mistyped\. Check the name/,
      environment: () => ({ DATA_DIR: join(folder, "mistyped") }),
    },
    {
      name: "disk space",
      says: "has 0.1 GiB of free space. Free some",
      machine: { freeSpace: async () => ({ freeBytes: 0.1 * GIBIBYTE, freeFiles: 1_000_000 }) },
    },
    {
      name: "glibc",
      says: "There is no glibc here, and the native HTTP server needs 2.29 with Node.js 20.19.0. Set HTTP_SERVER=node",
      environment: () => ({ HTTP_SERVER: "native" }),
      machine: { glibcVersion: undefined },
    },
    {
      name: "open files",
      says: "The process may have 256 open files. Allow 4096 or more",
      machine: { openFilesMax: 256 },
    },
    {
      name: "database",
      says: /^PostgreSQL cannot be reached: connect ECONNREFUSED .*Check that it runs/,
      environment: () => ({ DATABASE_URL: url(closedPort) }),
      stops: tokens.database,
    },
    {
      name: "database",
      says: 'PostgreSQL refuses the login: password authentication failed for user "test". Correct user and password',
      environment: () => ({ DATABASE_URL: url(refusingPort) }),
      stops: tokens.database,
    },
    {
      name: "migrations",
      says: "The database is not up to date: run panorama migrate first.",
      plant: removeMigration("001-baseline"),
      repair: addMigration("001-baseline"),
      stops: tokens.database,
    },
    {
      name: "migrations",
      says: "The database is ahead of this version: a later one has run the migration 999-later. Start the later version",
      plant: addMigration("999-later"),
      repair: removeMigration("999-later"),
      stops: tokens.database,
    },
    {
      name: "queue",
      status: "warning",
      says: /^1 task waits for a provider, the oldest since 2026-\S+Z\. Raise PROVIDER_MAX_CONCURRENT/,
      plant: async () => {
        const database = await openPostgresDatabase(databaseUrl, 1);
        const { accounts, tasks } = sqlStores(database);
        await accounts.open(anAccount(), { order: aPaidOrder() });
        const places = [{ name: "full", concurrencyMax: 0, canMake: () => true }];
        const opened = await tasks.open({
          account: anAccount().id,
          dueAt: noon,
          queue: { places, dueAt: noon },
          decide: (standing, position) => openATask(standing, aSubmittingTask(), noon, { turn: position?.turn }),
        });
        await database.close();
        opened._unsafeUnwrap();
      },
      repair: () => sql(EMPTY_TABLES),
    },
    {
      name: "clock",
      says: "The clock of the database is 30.0 s ahead of this machine's. Synchronize both (NTP)",
      clockMilliseconds: -30_000,
    },
    {
      name: "storage",
      says: "The bucket no-such-bucket is not usable: Cloud Storage answered 404. Make the bucket, or correct its name.",
      environment: () => ({ GCS_BUCKET: "no-such-bucket" }),
      stops: tokens.storage,
    },
    {
      name: "storage",
      says: "is not usable: Cloud Storage answered 403. Check the credentials",
      plant: () => {
        bucket.faults = ["slow", 403];
      },
    },
    {
      name: "image URL",
      says: /answered 403, so clients cannot read images\. Check GCS_PUBLIC_URL, and that everybody may read/,
      front: { imageStatus: 403 },
    },
    {
      name: "image URL",
      says: "answered with something else than the stored object",
      front: { instead: "<!doctype html>" },
    },
    {
      name: "CORS",
      status: "warning",
      says: /with no Access-Control-Allow-Origin, so the viewer shows the flat image only\. Allow GET and HEAD from every origin \(\*\) in the CORS settings/,
      front: { cors: undefined },
    },
    {
      name: "provider replicate",
      says: "Bad configuration: REPLICATE_API_KEY: the provider does not accept this key (status 401); set a valid one.",
      environment: () => ({ REPLICATE_API_KEY: "r8_other" }),
      stops: tokens.provider,
    },
    {
      name: "provider replicate",
      status: "warning",
      says: /^The API key and the model or style could not be checked: .*\. Creations are refused while/,
      environment: () => ({ REPLICATE_BASE_URL: `http://127.0.0.1:${closedPort}` }),
    },
    {
      name: "TLS listener",
      says: /key\.pem is not the key of the certificate .*certificate\.pem\. Restart panorama serve/,
      environment: () => tls({ DATA_DIR: join(folder, "mixed") }),
      plant: async () => {
        await tlsCertificate(join(folder, "mixed"), "localhost", new Date());
        await writeFile(join(folder, "mixed/tls/key.pem"), await readFile(join(folder, "tls/key.pem")));
      },
    },
    {
      name: "TLS listener",
      says: /^The certificate .*certificate\.pem is valid until \w+ \d+ [\d:]+ 20\d\d GMT only\. Restart panorama serve/,
      environment: () => tls({ DATABASE_URL: "" }), // whose clock is right
      clockMilliseconds: 3660 * DAY_MILLISECONDS,
    },
    {
      name: "TLS listener",
      says: "is not for panorama.internal, the host of PUBLIC_URL. Restart panorama serve",
      environment: () => tls({ PUBLIC_URL: "http://panorama.internal:8080" }),
    },
    {
      name: "public URL",
      says: /^The certificate of https:\/\/localhost:\d+ is not accepted: self-signed certificate\. Install a certificate/,
      environment: () => ({ PUBLIC_URL: `https://localhost:${selfSignedPort}` }),
    },
    {
      name: "public URL",
      status: "warning",
      says: /^Nothing answers at https:\/\/localhost:\d+: .*ECONNREFUSED.*\. Check the proxy/,
      environment: () => ({ PUBLIC_URL: `https://localhost:${closedPort}` }),
    },
    {
      name: "public URL",
      says: "/healthz answered 502, and not as panorama serve does. Check the proxy",
      front: { healthStatus: 502 },
    },
    {
      name: "mail",
      says: /^The mail server 127\.0\.0\.1:\d+ cannot be used: .*ECONNREFUSED.*Check host, port and encryption in SMTP_URL\.$/,
      environment: () => ({ SMTP_URL: `smtp://127.0.0.1:${closedPort}` }),
    },
    {
      name: "mail",
      says: /^The mail server 127\.0\.0\.1:\d+ refuses the login: .*\. Correct user and password in SMTP_URL\.$/,
      environment: () => ({ SMTP_URL: `smtp://user:wrong@127.0.0.1:${mail.port}/?tls.rejectUnauthorized=false` }),
    },
  ];

  it.each(FAULTS)("finds by the check of $name: $says", async (fault) => {
    // Faults of others do not need the mail server, whose handshake takes longest.
    const withoutMail = fault.name === "mail" ? {} : { SMTP_URL: "", MAIL_FROM: "" };
    const environment = { ...withoutMail, ...fault.environment?.() };
    const expected = fault.status ?? "failed";
    front = { ...HEALTHY_FRONT, ...fault.front };
    await fault.plant?.();
    try {
      const findings = await examine(configOf(environment), portsOf(fault));
      const { message = "", status } = findings.find(({ name }) => name === fault.name) ?? {};
      expect(message).toMatch(fault.says);
      expect(status).toBe(expected);
      expect(findings.filter((finding) => finding.status === "failed").map(({ name }) => name)).toEqual(
        expected === "failed" ? [fault.name] : [],
      );
      // No secret in any sentence, and no object left behind.
      for (const secret of [MAIL_PASSWORD, REPLICATE_KEY, "r8_other", "wrong@"]) {
        for (const finding of findings) expect(finding.message).not.toContain(secret);
      }
      expect([...bucket.objects.keys()]).toEqual([]);
      if (fault.stops !== undefined) {
        const service = createService(configOf({ ...environment, HOST: "127.0.0.1" }));
        await service.loadServer();
        await expect(service.get(fault.stops)).rejects.toThrow(message);
        await service.close().catch(() => {}); // the container keeps the rejection of the part
      }
    } finally {
      front = HEALTHY_FRONT;
      await fault.repair?.();
    }
  });

  it("finds an unknown value of a setting, and runs the checks that do not need it", () => {
    const problem = readConfig({ STORAGE: "ftp" })._unsafeUnwrapErr();
    const findings = examineWithout(problem, HEALTHY_MACHINE);
    expect(findings.slice(0, 4).map(({ name, status }) => [name, status])).toEqual([
      ["configuration", "failed"],
      ["Node.js", "ok"],
      ["glibc", "ok"],
      ["open files", "ok"],
    ]);
    expect(findings[0]?.message).toContain('STORAGE="ftp"');
    expect(new Set(findings.slice(4).map(({ status }) => status))).toEqual(new Set(["not checked"]));
  });

  it("ends in time if nothing answers, and reports each service", async () => {
    const silent = await silentServer();
    const at = `127.0.0.1:${silent.port}`;
    const start = performance.now();
    const findings = await examine(
      configOf({
        DATABASE_URL: `postgresql://a:b@${at}/c`,
        GCS_API_ENDPOINT: `http://${at}`,
        REPLICATE_BASE_URL: `http://${at}`,
        SMTP_URL: `smtp://${at}`,
        PUBLIC_URL: `http://${at}`,
      }),
      portsOf(),
      1_000,
    );
    expect(performance.now() - start).toBeLessThan(5_000); // which the five take one after the other
    const late = findings.filter(({ message }) => message.startsWith("There was no result within 1 s."));
    expect(late.map(({ name }) => name)).toEqual(["database", "storage", "provider", "public URL", "mail"]);
    silent.end();
  });

  it("names the minimum version of Node.js from package.json", async () => {
    const { engines } = JSON.parse(await readFile("package.json", "utf8")) as { engines: { node: string } };
    const [major = 0, minor = 0] = engines.node.replace(">=", "").split(".").map(Number);
    const nodeVersion = `${major}.${minor - 1}.0`;
    expect(examineWithout("", { ...HEALTHY_MACHINE, nodeVersion })[1]).toMatchObject({
      status: "failed",
      message: expect.stringContaining(`This is Node.js ${nodeVersion}. Install ${major}.${minor} or later`),
    });
  });
});

describe("panorama doctor on one machine", () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await Installation.create({ DEMO: "false" });
  });
  afterAll(() => installation.remove());

  it("changes nothing before the first start, and checks the running service afterwards", async () => {
    const statuses = (json: Record<string, unknown>, wanted: string) =>
      (json.checks as { name: string; status: string }[])
        .filter(({ status }) => status === wanted)
        .map(({ name }) => name);
    const first = await installation.command("doctor");
    expect([first.status, first.json.status]).toEqual([0, "warning"]);
    expect(statuses(first.json, "warning")).toContain("database");
    expect(await readdir(installation.dataDir)).toEqual([]);
    const ports = (message: string) =>
      expect.arrayContaining([expect.objectContaining({ name: "ports", status: "ok", message })]);
    expect(first.json.checks).toEqual(ports("panorama serve can listen on 127.0.0.1."));

    await installation.start(); // the ports of the first examination are free
    const running = await installation.answer("doctor");
    expect(running.json.checks).toEqual(ports("panorama serve listens already."));
    expect(running.json.checks).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: "image URL", status: "ok" })]),
    );
    expect(statuses(running.json, "failed")).toEqual([]);
    expect(statuses(running.json, "not_checked")).toEqual(["clock", "mail"]);
    expect(running.status).toBe(0);
    await installation.end("SIGTERM");
    const [line = ""] = installation.log.split("\n");
    expect(JSON.parse(line)).toMatchObject({
      event: "starting",
      version: expect.stringMatching(/^\d+\.\d+\.\d+\+[0-9a-f]{8}$/),
      instance: expect.stringMatching(/:\d+$/),
      configuration: { DEMO: "false", DATA_DIR: installation.dataDir },
    });
  });

  it("exits with the status of the worst finding", async () => {
    const of = async (environment: Record<string, string>) => {
      const other = await Installation.create({ DATA_DIR: installation.dataDir, ...environment });
      const { status, json } = await other.answer("doctor");
      return { status, failed: (json.checks as Finding[]).find((finding) => finding.status === "failed")?.name };
    };
    const closed = await freePort();
    expect(await of({ STORAGE: "ftp" })).toEqual({ status: 6, failed: "configuration" });
    expect(await of({ DATABASE_URL: `postgresql://a:b@127.0.0.1:${closed}/c` })).toEqual({
      status: 4,
      failed: "database",
    });
  });
});

/** What PostgreSQL answers to a login with a wrong password. */
const WRONG_PASSWORD = (() => {
  const fields = ["SFATAL", "VFATAL", "C28P01", 'Mpassword authentication failed for user "test"', ""].join("\0");
  const body = Buffer.from(`${fields}\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
})();
