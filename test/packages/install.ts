import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
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
  "@types/node": "20.19.43",
  "@types/pg": "8.23.1",
  "fast-check": "4.10.2",
  fastify: "5.12.8",
  pg: "8.23.1",
  typescript: "5.9.3",
  vitest: "4.1.12",
};
const EXAMPLES = [
  ...["application.ts", "client.ts", "durable.ts", "fastify.ts", "meter-store-of-documents.ts", "one-use-case.ts"],
  ...["own-server.ts", "page.ts", "prove-meter-store.ts", "prove-storage.ts", "prove-with-vitest.ts"],
  ...["replicate.ts", "sql.ts"],
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
  // Fastify's light-my-request allows a version of cookie that needs Node.js 22, and cbor-extract 2.2.3 lacks packages
  // for single platforms; yarn refuses both.
  const resolutions = { "cbor-extract": "2.2.2", ...("fastify" in dependencies && { cookie: "1.0.2" }) };
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

/** Starts the example of a durable application, and returns what it prints first. */
const startDurable = async (folder: string, port: string) => {
  const started = spawn(process.execPath, ["durable.js"], { cwd: folder, env: { ...process.env, PORT: port } });
  let errors = "";
  started.stderr.on("data", (data) => (errors += data));
  for await (const line of createInterface(started.stdout)) return { started, line };
  throw new Error(`The durable example has printed nothing:\n${errors}`);
};

/** Kills it after a creation: the next start finishes the panorama, and knows account, key and credits. */
const killDurable = async (folder: string): Promise<void> => {
  const port = String(await freePort());
  const api = `http://127.0.0.1:${port}/api/v1`;
  const first = await startDurable(folder, port);
  const headers = { "x-api-key": first.line.replace("The key is ", "") };
  const body = JSON.stringify({ prompt: "a quiet lake at sunset", resolution: "1k" });
  const created = await fetch(`${api}/panoramas`, { method: "POST", headers, body });
  const { id } = (await created.json()) as { id: string };
  first.started.kill("SIGKILL");
  await once(first.started, "exit");

  const second = await startDurable(folder, port);
  check("the customer after a kill", second.line, "The customer is known: email_taken");
  let task: { status?: string; output?: { storage_status: string; viewer_url?: string } } = {};
  for (let attempt = 0; attempt < 40 && task.output?.storage_status !== "saved"; attempt += 1) {
    const read = await fetch(`${api}/panoramas/${id}`, { headers: { ...headers, prefer: "wait=30" } });
    task = (await read.json()) as typeof task;
    if (task.status === "succeeded") await setTimeout(500);
  }
  const credits = (await (await fetch(`${api}/credits`, { headers })).json()) as { remaining_credits: number };
  const { storage_status: stored, viewer_url: viewer } = task.output ?? {};
  check("the panorama after a kill", [task.status, stored, viewer, credits.remaining_credits], DURABLE);
  second.started.kill("SIGTERM");
  const [code] = await once(second.started, "exit");
  check("the end of the durable example", code, 0);
};
const DURABLE = ["succeeded", "saved", undefined, 6];

const runExamples = async (folder: string): Promise<void> => {
  for (const example of EXAMPLES) await cp(resolve("test/examples/embedding", example), join(folder, example));
  const tsc = join(project, "node_modules/typescript/bin/tsc");
  const bundler = ["--module", "esnext", "--moduleResolution", "bundler", "--noEmit"];
  for (const mode of [bundler, ["--module", "nodenext"]]) {
    await ended(process.execPath, [tsc, ...COMPILER_OPTIONS, ...mode, ...EXAMPLES], folder);
  }
  const output = await ended(process.execPath, ["fastify.js"], folder);
  const expected = [202, "succeeded", 202, "failed", 202, "succeeded", 402, "insufficient_credits", 0];
  check("the Fastify example", JSON.parse(output), expected);
  const served = await ended(process.execPath, ["own-server.js"], folder, { PORT: String(await freePort()) });
  check("the example with a server of its own", JSON.parse(served), [202, "succeeded", 404, "a page of yours"]);
  await killDurable(folder);

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
    const output = await ended(process.execPath, ["sql.js"], folder, { DATABASE_URL: postgres.url });
    const used = [7, "submitted, 6 credits"];
    check("the SQL example", JSON.parse(output), [used, [{ name: "a row of yours" }], used, { rows: 1 }]);
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
