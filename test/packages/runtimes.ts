import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { build } from "esbuild";
import { makePackages } from "../packed/make-packages.js";
import { FakeService } from "../support/fake-service.js";
import { freePort } from "../support/free-port.js";
import { pngBytes } from "../support/image-bytes.js";
import { tarballOf } from "../support/tarball-of.js";
import { restAnswers } from "./rest-requests.js";

/**
 * `npm run verify runtimes`: installs panorama-client and panorama-core of dist-packages/, and Deno, Bun and workerd
 * from the registry, in an empty project. Uses client and meter in each of them, and in this Node.js. Then each of them
 * serves the REST interface with `fetchRoutes` of panorama-service, and answers the same requests as `restRoutes` on
 * `node:http` (rest-requests.ts).
 */
const run = promisify(execFile);
const PACKAGES = ["panorama-client", "panorama-core", "panorama-service"] as const;
const RUNTIMES = { deno: "2.9.6", bun: "1.4.5", workerd: "1.20261117.1" };

/** What each runtime does with the client. `path`: a file to upload, where there are files. */
const SCENARIO = `
import { PanoramaClient, PanoramaError, signWebhook, verifyWebhook } from "panorama-client";
import { definePolicy, memoryMeterStore, meter } from "panorama-core";

export const scenario = async (options, path) => {
  const client = new PanoramaClient(options);
  const bytes = Uint8Array.from(atob("${Buffer.from(pngBytes(100)).toString("base64")}"), (one) => one.charCodeAt(0));
  const { image_urls } = await client.upload([new File([bytes], "a.png"), new Blob([bytes]).stream(), ...(path ? [path] : [])]);
  const { output } = await client.run({ prompt: "a lake", resolution: "1k" });
  let count = 0;
  for await (const task of client.list({ limit: 1 })) count += task.id === "" ? 0 : 1;
  const error = await client.read("unknown").catch((error) => error);
  const body = '{"type":"credits.low","timestamp":"t","data":{"remaining_credits":1}}';
  const event = await verifyWebhook(body, new Headers(await signWebhook(body, "whsec_c2VjcmV0")), "whsec_c2VjcmV0");
  const credits = meter({ policy: definePolicy({ prices: { job: 3 }, rates: {}, activeMax: 1 }), store: memoryMeterStore() });
  await credits.purchase("acme", { orderId: "order-1", credits: 5 });
  const held = await credits.hold("acme", { price: "job", quantity: 1, idempotencyKey: "a" });
  await held.value.capture({ credits: 2 });
  const refused = await credits.hold("acme", { price: "job", quantity: 2 });
  const metered = [refused.error.kind, await credits.balance("acme")];
  return [metered, image_urls.length, output.storage_status, count, error instanceof PanoramaError, error.name, event.type];
};`;
const PROGRAM = `
import { scenario } from "./scenario.js";
console.log(JSON.stringify(await scenario({}, "a.png")));`;
const WORKER = `
import { scenario } from "./scenario.js";
export default { fetch: async (_, { baseUrl, apiKey }) => Response.json(await scenario({ baseUrl, apiKey })) };`;

/** The application in memory, with one account. `GET /key` is its API key, `POST /finish` ends what is in progress. */
const REST = `
import { createApplication, credits, parseEmail, RATE_LIMITS } from "panorama-service";
import { HandClock, memoryPorts, memoryStores } from "panorama-service/adapters/memory";
import { fetchRoutes, restRoutes } from "panorama-service/adapters/http";

const open = async () => {
  const clock = new HandClock();
  const ports = { ...memoryPorts(clock), ...memoryStores(clock, RATE_LIMITS) };
  const application = createApplication({ ports });
  const email = parseEmail("a@example.com").value;
  const { secret } = (await application.accounts.open({ email, credits: credits(30), keyName: "a" })).value;
  const finish = async () => {
    await application.start();
    await clock.advance(10_000);
    await application.stop();
  };
  const options = { publicUrl: "https://example.com", storage: ports.storage };
  return { secret, finish, ...(await fetchRoutes(application, options)), ...(await restRoutes(application, options)) };
};
let opened;
const ownAnswer = async (path) => {
  opened ??= open();
  if (path === "/finish") await (await opened).finish();
  return ["/key", "/finish"].includes(path) ? (await opened).secret : undefined;
};
export const handle = async (request, response) => {
  const own = await ownAnswer(request.url);
  if (own === undefined) (await opened).handle(request, response);
  else response.end(own);
};
export const answer = async (request) => {
  const own = await ownAnswer(new URL(request.url).pathname);
  return own === undefined ? (await opened).fetch(request) : new Response(own);
};`;
const REST_SERVERS = {
  "node.js": 'import { createServer } from "node:http"; createServer(handle).listen(PORT, "127.0.0.1");',
  "deno.js": 'Deno.serve({ port: PORT, hostname: "127.0.0.1" }, answer);',
  "bun.js": 'Bun.serve({ port: PORT, hostname: "127.0.0.1", fetch: answer });',
};

/** workerd has no SQLite: an application without stores and the optional port `schedule`, for requests without them. */
const REST_WORKER = `
import { createApplication } from "panorama-core";
import { HandClock, memoryPorts } from "panorama-core/memory";
import { fetchRoutes } from "panorama-service/adapters/http";

const stores = new Proxy(memoryPorts(new HandClock()), {
  get: (ports, name) => ports[name] ?? (name === "schedule" ? undefined : {}),
});
let opened; // by the first request: a Worker does nothing before it
export default {
  fetch: async (request) => {
    opened ??= fetchRoutes(createApplication({ ports: stores }), { publicUrl: "https://example.com", storage: stores.storage });
    return (await opened).fetch(request);
  },
};`;

const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire("/");';

const check = (runtime: string, answer: string, files: number, service: FakeService): void => {
  const expected = JSON.stringify([
    ["insufficient_credits", 3],
    files,
    "saved",
    service.tasks.length,
    true,
    "NotFoundError",
    "credits.low",
  ]);
  if (answer.trim() !== expected) throw new Error(`${runtime}: ${answer} instead of ${expected}`);
  console.log(`${runtime}: meter and client work, as ${service.received.at(-1)?.headers["user-agent"]}`);
};

const folder = await mkdtemp(join(tmpdir(), "panorama-runtimes-"));
const service = await FakeService.start();
try {
  const dependencies: Record<string, string> = { ...RUNTIMES };
  await makePackages();
  for (const name of PACKAGES) dependencies[name] = `file:${await tarballOf(name)}`;
  const manifest = { private: true, type: "module", dependencies };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  await run("npm", ["install", "--no-audit", "--no-fund"], { cwd: folder });
  await writeFile(join(folder, "a.png"), pngBytes(100));
  await writeFile(join(folder, "scenario.js"), SCENARIO);
  await writeFile(join(folder, "program.js"), PROGRAM);
  await writeFile(join(folder, "worker.js"), WORKER);

  const env = { ...process.env, PANORAMA_BASE_URL: service.origin, PANORAMA_API_KEY: service.apiKey };
  const bin = (name: string) => join(folder, "node_modules/.bin", name);
  const commands: readonly [string, string, readonly string[]][] = [
    ["Node.js", process.execPath, ["program.js"]],
    ["Deno", bin("deno"), ["run", "--allow-net", "--allow-env", "--allow-read", "program.js"]],
    ["Bun", bin("bun"), ["run", "program.js"]],
  ];
  for (const [runtime, command, args] of commands) {
    check(runtime, (await run(command, [...args], { cwd: folder, env })).stdout, 3, service);
  }

  const serving = async <T>(
    command: string,
    args: readonly string[],
    port: number,
    use: () => Promise<T>,
  ): Promise<T> => {
    const server = spawn(command, args, { cwd: folder, stdio: "inherit" });
    try {
      for (let attempt = 0; ; attempt += 1) {
        const listens = await fetch(`http://127.0.0.1:${port}/key`).catch(() => undefined);
        if (listens !== undefined) break;
        if (attempt === 100) throw new Error(`${command} does not listen`);
        await setTimeout(200);
      }
      return await use();
    } finally {
      server.kill();
    }
  };
  /** Bundles a module as for Cloudflare, and serves it. `flags`: `nodejs_compat` for modules of Node.js. */
  const inWorkerd = async <T>(
    name: string,
    flags: readonly string[],
    use: (port: number) => Promise<T>,
  ): Promise<T> => {
    await build({
      entryPoints: [join(folder, `${name}.js`)],
      outfile: join(folder, `${name}.mjs`),
      bundle: true,
      format: "esm",
      target: "es2022",
      absWorkingDir: folder,
      // The modules of Node.js are those of workerd, also for packages that are not ES modules.
      ...(flags.length > 0 && { platform: "node", banner: { js: REQUIRE } }),
    });
    const port = await freePort();
    const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "${name}.mjs")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ${JSON.stringify(flags)},
  bindings = [(name = "baseUrl", text = "${service.origin}"), (name = "apiKey", text = "${service.apiKey}")],
);`;
    await writeFile(join(folder, `${name}.capnp`), config);
    return serving(bin("workerd"), ["serve", join(folder, `${name}.capnp`)], port, () => use(port));
  };
  await inWorkerd("worker", [], async (port) => {
    check("workerd", await (await fetch(`http://127.0.0.1:${port}`)).text(), 2, service);
  });

  const port = await freePort();
  await writeFile(join(folder, "rest.js"), REST);
  for (const [file, text] of Object.entries(REST_SERVERS)) {
    const source = `import { answer, handle } from "./rest.js";\n${text.replace("PORT", String(port))}`;
    await writeFile(join(folder, file), source);
  }
  const answers = () => restAnswers(port);
  const expected = await serving(process.execPath, ["node.js"], port, answers);
  const compare = (runtime: string, actual: readonly string[]): void => {
    const differs = actual.findIndex((answer, n) => answer !== expected[n]);
    if (differs >= 0) throw new Error(`${runtime} answers ${actual[differs]} instead of ${expected[differs]}`);
    console.log(`${runtime}: fetchRoutes gives ${actual.length} answers as restRoutes on node:http`);
  };
  compare("Deno", await serving(bin("deno"), ["run", "--allow-all", "deno.js"], port, answers));
  compare("Bun", await serving(bin("bun"), ["run", "bun.js"], port, answers));
  await writeFile(join(folder, "rest-worker.js"), REST_WORKER);
  const withoutStores = async (at: number): Promise<string[]> => {
    const responses = ["/api/v1/nothing", "/api/v1/credits"].map((path) => fetch(`http://127.0.0.1:${at}${path}`));
    return Promise.all(responses.map(async (response) => String((await response).status)));
  };
  const inNode = await serving(process.execPath, ["node.js"], port, () => withoutStores(port));
  const inWorker = await inWorkerd("rest-worker", ["nodejs_compat"], withoutStores);
  if (inWorker.join() !== inNode.join()) throw new Error(`workerd answers ${inWorker} instead of ${inNode}`);
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}
