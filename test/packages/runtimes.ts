import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { build } from "esbuild";
import { FakeService } from "../support/fake-service.js";
import { freePort } from "../support/free-port.js";
import { pngBytes } from "../support/image-bytes.js";

/**
 * `npm run verify runtimes`: installs panorama-client of dist-packages/, and Deno, Bun and workerd from the registry,
 * in an empty project. Uses the client in each of them, and in this Node.js.
 */
const run = promisify(execFile);
const RUNTIMES = { deno: "2.9.6", bun: "1.4.5", workerd: "1.20261117.1" };

/** What each runtime does with the client. `path`: a file to upload, where there are files. */
const SCENARIO = `
import { PanoramaClient, PanoramaError, signWebhook, verifyWebhook } from "panorama-client";

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
  return [image_urls.length, output.storage_status, count, error instanceof PanoramaError, error.name, event.type];
};`;
const PROGRAM = `
import { scenario } from "./scenario.js";
console.log(JSON.stringify(await scenario({}, "a.png")));`;
const WORKER = `
import { scenario } from "./scenario.js";
export default { fetch: async (_, { baseUrl, apiKey }) => Response.json(await scenario({ baseUrl, apiKey })) };`;

const check = (runtime: string, answer: string, files: number, service: FakeService): void => {
  const expected = JSON.stringify([files, "saved", service.tasks.length, true, "NotFoundError", "credits.low"]);
  if (answer.trim() !== expected) throw new Error(`${runtime}: ${answer} instead of ${expected}`);
  console.log(`${runtime}: the client works, as ${service.received.at(-1)?.headers["user-agent"]}`);
};

const folder = await mkdtemp(join(tmpdir(), "panorama-runtimes-"));
const service = await FakeService.start();
try {
  const packed = await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], {
    cwd: resolve("dist-packages/panorama-client"),
  });
  const client = `file:${join(folder, packed.stdout.trim().split("\n").at(-1) ?? "")}`;
  const manifest = { private: true, type: "module", dependencies: { "panorama-client": client, ...RUNTIMES } };
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

  await build({
    entryPoints: [join(folder, "worker.js")],
    outfile: join(folder, "worker.mjs"),
    bundle: true,
    format: "esm",
    target: "es2022",
    absWorkingDir: folder,
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
  modules = [(name = "worker", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-01-01",
  bindings = [(name = "baseUrl", text = "${service.origin}"), (name = "apiKey", text = "${service.apiKey}")],
);`;
  await writeFile(join(folder, "config.capnp"), config);
  const workerd = spawn(bin("workerd"), ["serve", join(folder, "config.capnp")], { stdio: "inherit" });
  try {
    let answer: Response | undefined;
    for (let attempt = 0; answer === undefined; attempt += 1) {
      answer = await fetch(`http://127.0.0.1:${port}`).catch(() => undefined);
      if (attempt === 100) throw new Error("workerd does not listen");
      if (answer === undefined) await setTimeout(200);
    }
    check("workerd", await answer.text(), 2, service);
  } finally {
    workerd.kill();
  }
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}
