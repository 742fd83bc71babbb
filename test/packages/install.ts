import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { makePackages } from "../packed/make-packages.js";
import { FakeReplicate, REPLICATE_KEY } from "../support/fake-replicate.js";
import { FakeService } from "../support/fake-service.js";
import { freePort } from "../support/free-port.js";
import { PackedProject } from "../support/packed-project.js";
import { PostgresServer } from "../support/postgres.js";
import { tarballOf } from "../support/tarball-of.js";

/**
 * `npm run verify packages`: installs the tarballs of dist-packages/ in empty projects with npm, pnpm and yarn from the
 * registry, compiles the examples with them, strictly and with the declarations of all packages, and runs them. Then it
 * installs the service and starts it. `-- npm` tries npm alone; `-- --offline` links the packages and uses no registry.
 */
const run = promisify(execFile);
const MANAGERS = { npm: ["npm"], pnpm: ["npx", "-y", "pnpm@10.24.0"], yarn: ["npx", "-y", "yarn@1.22.22"] } as const;
const INSTALL = {
  npm: ["install", "--no-audit", "--no-fund"],
  pnpm: ["install"],
  yarn: ["install", "--non-interactive"],
} as const;
type Manager = keyof typeof MANAGERS;

const PACKAGES = ["panorama-core", "panorama-client", "panorama-service"] as const;
const project = process.cwd();
const VERSIONS = {
  "@photostructure/sqlite": "1.2.1",
  "@types/express": "5.0.6",
  "@types/node": "20.19.43",
  "@types/pg": "8.23.1",
  express: "5.3.0",
  "fast-check": "4.10.2",
  hono: "4.13.19",
  pg: "8.23.1",
  typescript: "5.9.3",
};
const EXAMPLES = [
  ...["embedding/application.ts", "embedding/client.ts", "embedding/hono.ts", "embedding/meter-on-postgres.ts"],
  ...["embedding/meter-store-of-documents.ts", "embedding/one-use-case.ts", "embedding/own-server.ts"],
  ...["embedding/page.ts", "embedding/prove-meter-store.ts", "embedding/prove-storage.ts", "embedding/replicate.ts"],
  ...["express/service.ts"],
];

const ended = async (command: string, args: readonly string[], cwd: string, env = {}): Promise<string> => {
  try {
    return (await run(command, [...args], { cwd, env: { ...process.env, ...env }, maxBuffer: 1e8 })).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed:\n${stdout.slice(-3000)}\n${stderr.slice(-3000)}`);
  }
};

const check = (what: string, actual: unknown, expected: unknown): void => {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  }
};

/** An empty project with these packages, installed by this package manager. */
const install = async (manager: Manager, folder: string, dependencies: Readonly<Record<string, string>>) => {
  await mkdir(folder);
  // cbor-extract 2.2.3 lacks packages for single platforms, which yarn refuses.
  const resolutions = { "cbor-extract": "2.2.2" };
  const manifest = { private: true, type: "module", dependencies, resolutions };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  const [command, ...first] = MANAGERS[manager];
  // yarn knows a tarball by its name and version, and would take the one of an earlier run from its cache.
  const cache = manager === "yarn" ? ["--cache-folder", `${folder}-cache`] : [];
  await ended(command, [...first, ...INSTALL[manager], ...cache], folder);
};

const COMPILER_OPTIONS = [
  ...["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"],
  ...["--target", "es2022", "--types", "node", "--skipLibCheck", "false"],
];

/** Starts the example of a service with Express, and ends it: products.program.test.ts kills it. */
const startExpress = async (folder: string): Promise<void> => {
  const env = { ...process.env, PORT: String(await freePort()) };
  const service = spawn(process.execPath, ["service.js"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await Promise.race([once(service.stdout, "data"), once(service, "exit")]);
  check("the start of the Express example", String(line), "ready\n");
  service.kill("SIGTERM");
  check("the end of the Express example", await once(service, "exit"), [0, null]);
};

const runExamples = async (folder: string): Promise<void> => {
  const sources = EXAMPLES.map((example) => basename(example));
  for (const example of EXAMPLES) await cp(resolve("test/examples", example), join(folder, basename(example)));
  const tsc = join(project, "node_modules/typescript/bin/tsc");
  const bundler = ["--module", "esnext", "--moduleResolution", "bundler", "--noEmit"];
  for (const mode of [bundler, ["--module", "nodenext"]]) {
    await ended(process.execPath, [tsc, ...COMPILER_OPTIONS, ...mode, ...sources], folder);
  }
  const served = await ended(process.execPath, ["own-server.js"], folder, { PORT: String(await freePort()) });
  check("the example with a server of its own", JSON.parse(served), [202, "succeeded", 404, "a page of yours"]);
  await startExpress(folder);

  const service = await FakeService.start();
  try {
    const env = { PANORAMA_BASE_URL: service.origin, PANORAMA_API_KEY: service.apiKey };
    const url = await ended(process.execPath, ["client.js"], folder, env);
    check("the client example", /^https?:\/\/.*\n$/.test(url), true);
  } finally {
    await service.stop();
  }
  const postgres = await PostgresServer.start();
  try {
    const output = await ended(process.execPath, ["meter-on-postgres.js"], folder, { DATABASE_URL: postgres.url });
    check("the PostgreSQL example", JSON.parse(output), { third: "insufficient_credits", jobs: 2, balance: 7 });
  } finally {
    await postgres.remove();
  }
  const replicate = await FakeReplicate.start();
  try {
    const env = { REPLICATE_BASE_URL: replicate.baseUrl, REPLICATE_API_KEY: REPLICATE_KEY };
    const downloaded = await ended(process.execPath, ["replicate.js"], folder, env);
    const { size } = await stat(join(folder, "panorama.jpg"));
    check("the Replicate example", downloaded, `${size} bytes\n`);
  } finally {
    await replicate.close();
  }
  const required =
    "console.log(typeof require('panorama-core').openTask, require('panorama-client').PanoramaClient.name)";
  const loaded = await ended(process.execPath, ["--input-type=commonjs", "--eval", required], folder);
  check("require", loaded, "function PanoramaClient\n");
};

/** Starts the installed service on a new database, and stops it when it has answered. */
const serve = async (panorama: string, folder: string): Promise<void> => {
  const [port, tlsPort] = [String(await freePort()), String(await freePort())];
  const env = { ...process.env, PORT: port, TLS_PORT: tlsPort, DATA_DIR: join(folder, "data") };
  const service = spawn(process.execPath, [panorama, "serve"], { cwd: folder, env, stdio: "pipe" });
  let log = "";
  for (const stream of [service.stdout, service.stderr]) stream.on("data", (data) => (log += data));
  try {
    for (let attempt = 0; ; attempt += 1) {
      const answer = await fetch(`http://localhost:${port}/api/v1/openapi.json`).catch(() => undefined);
      if (answer?.status === 200) return;
      if (attempt === 300 || service.exitCode !== null) throw new Error(`The service does not answer:\n${log}`);
      await setTimeout(200);
    }
  } finally {
    service.kill();
  }
};

await makePackages();
const folder = await mkdtemp(join(tmpdir(), "panorama-packages-"));
try {
  const asked = process.argv.slice(2);
  if (asked.includes("--offline")) {
    const linked = await PackedProject.with(PACKAGES, Object.keys(VERSIONS));
    await runExamples(linked.folder).finally(() => linked.remove());
    console.log("The examples compile and run with the linked packages.");
  } else {
    const managers = (Object.keys(MANAGERS) as Manager[]).filter((name) => asked.length === 0 || asked.includes(name));
    for (const manager of managers) {
      const [core, client, service] = await Promise.all(PACKAGES.map((name) => tarballOf(name)));
      const embedding = join(folder, `embedding-${manager}`);
      await install(manager, embedding, {
        "panorama-core": `file:${core}`,
        "panorama-client": `file:${client}`,
        "panorama-service": `file:${service}`,
        neverthrow: "8.2.0",
        ...VERSIONS,
        ...(manager === "pnpm" && { "fast-check": "3.23.2" }), // the contract suites run with 3 and 4
      });
      await runExamples(embedding);
      console.log(`${manager}: the examples compile and run`);
      const serving = join(folder, `service-${manager}`);
      await install(manager, serving, { "panorama-service": `file:${service}` });
      const panorama = join(serving, "node_modules/panorama-service/dist/bootstrap/panorama.cjs");
      await serve(panorama, serving);
      console.log(`${manager}: the service starts and answers`);
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
