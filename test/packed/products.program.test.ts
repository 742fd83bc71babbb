import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.js";
import { PackedProject } from "../support/packed-project.js";

const run = promisify(execFile);

const ADAPTERS = ["http", "imaging", "memory", "node", "persistence", "providers", "storage"];

let project: PackedProject;

beforeAll(async () => {
  const others = ["express", "@types/express", "@types/node", "hono"];
  project = await PackedProject.with(["panorama-service", "panorama-client"], others);
});
afterAll(() => project.remove());

describe("the packed service in a project of somebody else", () => {
  const entries = async () => {
    const folder = join(project.folder, "node_modules/panorama-service/dist/bootstrap/packages/panorama-service");
    const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(".js"));
    return files.map((file) => ({ path: join(folder, file), name: file.replace(/\.js$|index\.js$/, "") }));
  };

  it("can be imported by every public path", async () => {
    const names = (await entries()).map(({ name }) => join("panorama-service", name).replace(/\/$/, ""));
    expect(names.sort()).toEqual(["panorama-service", ...ADAPTERS.map((name) => `panorama-service/adapters/${name}`)]);
    await writeFile(join(project.folder, "imports.ts"), names.map((name) => `import "${name}";\n`).join(""));
    await project.compileOwn(["imports.ts"]);
    await run(process.execPath, ["imports.js"], { cwd: project.folder });
  });

  it("depends on every package that its library and its command import", async () => {
    const folder = join(project.folder, "node_modules/panorama-service");
    const { dependencies, peerDependencies } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const { metafile } = await build({
      entryPoints: [...(await entries()).map(({ path }) => path), join(folder, "dist/bundle/main.js")],
      outdir: "unused",
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      packages: "external",
      write: false,
      metafile: true,
    });
    const imports = Object.values(metafile.inputs).flatMap((file) => file.imports);
    const packages = imports.filter(({ path, external }) => external === true && !isBuiltin(path));
    const names = packages.map(({ path }) => path.split("/", path.startsWith("@") ? 2 : 1).join("/"));
    expect(names.length).toBeGreaterThan(20);
    // Only the sources need tsx: they load TypeScript in a thread.
    expect(names.filter((name) => !(name in { ...dependencies, ...peerDependencies }) && name !== "tsx")).toEqual([]);
  });

  it("cannot be imported by a path that is not public", async () => {
    const paths = [
      "panorama-service/wording/invalid-request-sentence",
      "panorama-service/application/create-panorama",
      "panorama-service/contracts/meter/meter-contract",
      "panorama-service/adapters/http/servers/listener",
      "panorama-service/dist/domain/task.js",
    ];
    const codes = "(paths) => Promise.all(paths.map((path) => import(path).then(() => path, ({ code }) => code)))";
    const importing = `console.log(JSON.stringify(await (${codes})(${JSON.stringify(paths)})))`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", importing], {
      cwd: project.folder,
    });
    const isRefused = /^ERR_(PACKAGE_PATH_NOT_EXPORTED|MODULE_NOT_FOUND)$/;
    expect(JSON.parse(stdout)).toEqual(paths.map(() => expect.stringMatching(isRefused)));
  });
});

/** Creates a panorama with the Hono app of the example, and opens the page of the app itself. */
const USE_HONO = `
import { createApplication, credits, email, RATE_LIMITS } from "panorama-service";
import { HandClock, memoryPorts, memoryStores } from "panorama-service/adapters/memory";
import { honoApp } from "./hono.js";

const clock = new HandClock();
const ports = { ...memoryPorts(clock), ...memoryStores(clock, RATE_LIMITS) };
const application = createApplication({ ports });
const opened = await application.accounts.open({ email: email("a@example.com"), credits: credits(8), keyName: "first" });
if (opened.isErr()) throw new Error(opened.error.kind);
const { app, stop } = await honoApp(application, ports.storage);
const headers = { authorization: \`Bearer \${opened.value.secret}\`, "content-type": "application/json" };
const body = JSON.stringify({ prompt: "a quiet lake", resolution: "1k" });
const created = await app.request("/panoramas/api/v1/panoramas", { method: "POST", headers, body });
const read = await app.request(created.headers.get("location") ?? "", { headers });
const refused = await app.request("/panoramas/api/v1/credits");
const own = await app.request("/about");
console.log(JSON.stringify([created.status, read.status, refused.status, await own.text()]));
await stop(1_000);
`;

it("mounts the REST interface in a stranger's Hono app", async () => {
  await writeFile(join(project.folder, "use-hono.ts"), USE_HONO);
  await project.compile(["test/examples/embedding/hono.ts"]);
  await project.compileOwn(["use-hono.ts"]);
  expect(await project.output("use-hono.js")).toEqual([202, 200, 401, "a page of yours"]);
});

describe("panoramas in a stranger's Express service, and a script with the client", () => {
  let service: ChildProcess;
  let origin: string;
  let env: NodeJS.ProcessEnv;

  const start = async (): Promise<void> => {
    service = (await project.start("service.js", env)).child;
  };
  const runScript = async (...prompts: readonly string[]): Promise<unknown> => {
    const script = spawn(process.execPath, [join(project.folder, "make-panoramas.js"), ...prompts], {
      cwd: project.folder,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    script.stdout.on("data", (text) => (output += text));
    await once(script, "close");
    return script.exitCode === 0 ? JSON.parse(output) : undefined;
  };

  beforeAll(async () => {
    const sources = ["test/examples/express/service.ts", "test/examples/scripts/make-panoramas.ts"];
    await project.compile(sources, ["--skipDefaultLibCheck"]);
    const port = String(await freePort());
    origin = `http://127.0.0.1:${port}`;
    env = { ...process.env, PORT: port, PANORAMA_BASE_URL: `${origin}/panoramas` };
    await start();
  });
  afterAll(() => void service.kill("SIGKILL"));

  it("makes panoramas of a customer, refunds the one that fails, and pays none twice after a kill", async () => {
    const open = async (email: string) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${origin}/customers`, { method: "POST", headers, body: JSON.stringify({ email }) });
      return { status: response.status, body: (await response.json()) as { readonly key?: string } };
    };
    const { status, body } = await open("customer@example.com");
    expect(status).toBe(200);
    env = { ...env, PANORAMA_API_KEY: body.key };
    expect(await open("customer@example.com")).toEqual({ status: 409, body: { error: "email_taken" } });
    const error = expect.stringMatching(/^email: must be .*\.$/);
    expect(await open("no address")).toEqual({ status: 400, body: { error } });

    const prompts = ["a quiet lake test:plain", "a hill test:content"] as const;
    const outcomes = ["saved", "failed: content_refused"];
    const made = { outcomes, tasks: ["failed", "succeeded"], remaining_credits: 6 };
    expect(await runScript(...prompts)).toEqual(made);
    expect(await readdir(project.folder)).toContain("panorama-0.jpg");

    const killed = runScript(...prompts, "a bay test:plain");
    service.kill("SIGKILL");
    await once(service, "exit");
    await start();
    await killed; // it may have given up before the service was back
    expect(await runScript(...prompts, "a bay test:plain")).toEqual({
      outcomes: [...outcomes, "saved"],
      tasks: ["failed", "succeeded", "succeeded"],
      remaining_credits: 2,
    });
    service.kill("SIGTERM");
    expect(await once(service, "exit")).toEqual([0, null]);
  });
});
