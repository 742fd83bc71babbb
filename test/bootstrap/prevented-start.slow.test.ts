import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CannotListen } from "../../adapters/http/request-source.js";
import { unusableDataDir } from "../../bootstrap/doctor/data-directory.js";
import { freePort } from "../support/free-port.js";
import { Installation, PANORAMA } from "../support/service-process.js";

const MCP_SERVER = "dist/mcp/panorama-mcp.js";

type Outcome = { readonly status: number; readonly stdout: string; readonly stderr: string };

const ended = (file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Outcome> =>
  new Promise((resolve) => {
    const child = execFile(file, args, { env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end();
  });

describe("panorama serve, whose start the machine prevents", () => {
  let folder: string;
  let taken: Server;
  let takenPort: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-prevented-"));
    await writeFile(join(folder, "file"), "");
    await mkdir(join(folder, "folder/panorama.sqlite"), { recursive: true });
    for (const [name, file] of [
      ["text", "panorama.sqlite"],
      ["lock", "serve.lock"],
    ] as const) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, file), "no database ".repeat(1_000));
    }
    await symlink(join(folder, "nowhere"), join(folder, "dangling"));
    await symlink(join(folder, "loop"), join(folder, "loop"));
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    takenPort = String((taken.address() as { port: number }).port);
  });
  afterAll(async () => {
    taken.close();
    await rm(folder, { recursive: true });
  });

  type Row = {
    readonly name: string;
    readonly environment: () => Record<string, string>;
    readonly says: RegExp;
    /** 6 without it. */
    readonly status?: number;
    /** `panorama doctor` says it too. */
    readonly doctor?: true;
    /** The options of `ulimit`. */
    readonly limit?: string;
  };
  const dataDir = (name: string) => () => ({ DATA_DIR: join(folder, name) });
  const ROWS: readonly Row[] = [
    {
      name: "a file as DATA_DIR",
      environment: dataDir("file"),
      says: /^DATA_DIR \S+\/file cannot be used: a file is where a folder must be\. Move it away/,
      doctor: true,
    },
    {
      name: "a DATA_DIR below a file",
      environment: dataDir("file/data/new"),
      says: /^DATA_DIR \S+\/new cannot be used: \S+\/file: a file is where a folder must be\. Move it away/,
      doctor: true,
    },
    {
      name: "a folder as database",
      environment: dataDir("folder"),
      says: /^DATA_DIR \S+ cannot be used: \S+\/panorama\.sqlite: a folder is where a file must be\. Move it away/,
      doctor: true,
    },
    {
      name: "a database that is none",
      environment: dataDir("text"),
      says: /^Cannot open the database \S+\/panorama\.sqlite: file is not a database\. Restore a backup, or move/,
      doctor: true,
    },
    {
      name: "a lock that is no database",
      environment: dataDir("lock"),
      says: /^Cannot open the database \S+\/serve\.lock: file is not a database\. Restore a backup, or move/,
    },
    {
      name: "a link to nothing",
      environment: dataDir("dangling"),
      says: /^DATA_DIR \S+ cannot be used: there is none, and none can be made\. Correct the name or the symbolic link/,
      doctor: true,
    },
    {
      name: "links that lead to each other",
      environment: dataDir("loop"),
      says: /^DATA_DIR \S+ cannot be used: symbolic links lead to each other\. Correct them/,
      doctor: true,
    },
    ...(process.platform === "linux"
      ? [
          {
            name: "a folder in which nobody may write",
            environment: () => ({ DATA_DIR: "/sys/panorama" }),
            says: /^DATA_DIR \/sys\/panorama cannot be used:( \/sys:)? (the user of the service|its file system can only)/,
          },
          {
            name: "a folder in which there can be none",
            environment: () => ({ DATA_DIR: "/proc/panorama/data" }),
            says: /^DATA_DIR \/proc\/panorama\/data cannot be used: (\S+ )?(there is none|the user of the service)/,
          },
        ]
      : []),
    {
      name: "a used port",
      environment: () => ({ PORT: takenPort }),
      says: /^Port \d+ on 127\.0\.0\.1 is in use\. .* choose another port\. The variable of this port is PORT\.$/,
      status: 5,
      doctor: true,
    },
    {
      name: "a used port for TLS",
      environment: () => ({ TLS_PORT: takenPort }),
      says: /^Port \d+ on 127\.0\.0\.1 is in use\. .* choose another port\. The variable of this port is TLS_PORT\.$/,
      status: 5,
      doctor: true,
    },
    {
      name: "an address of another machine",
      environment: () => ({ HOST: "192.0.2.1" }),
      says: /^Cannot listen on 192\.0\.2\.1, port \d+: this machine has no such address\. Set HOST to an address/,
      doctor: true,
    },
    {
      name: "a name without an address",
      environment: () => ({ HOST: "nowhere.invalid" }),
      says: /^Cannot listen on nowhere\.invalid, port \d+: (no address is known|the name server does).* Set HOST to/,
      doctor: true,
    },
    {
      name: "settings that are not there",
      environment: () => ({ PANORAMA_SETTINGS: join(folder, "none.json") }),
      says: /^Bad configuration: PANORAMA_SETTINGS=\S+: the file cannot be read: there is none\. Correct the name\.$/,
      doctor: true,
    },
    {
      name: "few open files",
      environment: dataDir("new"),
      limit: "-n 30",
      says: /^The process may not open enough files\. Allow 4096 or more: LimitNOFILE= of systemd, ulimit -n\.$/,
      doctor: true,
    },
    {
      name: "no large files",
      environment: dataDir("small"),
      limit: "-f 8",
      says: /^DATA_DIR \S+ cannot be used: (the disk reports an error|its file system is full)\. /,
    },
  ];

  it.each(ROWS)("says in one line what to do about $name", async ({ environment, says, status = 6, doctor, limit }) => {
    const { environment: usual, remove } = await Installation.create(environment()).then((created) => ({
      environment: { ...created.environment, LOG_LEVEL: "silent", DEMO: "false" },
      remove: () => created.remove(),
    }));
    const run = (command: string) =>
      limit === undefined
        ? ended(process.execPath, [PANORAMA, command], usual)
        : ended("sh", ["-c", `ulimit ${limit}; exec "$0" "$@"`, process.execPath, PANORAMA, command], usual);
    const served = await run("serve");
    expect(served.stderr.trimEnd()).toMatch(says);
    expect(served).toEqual({ status, stdout: "", stderr: expect.stringMatching(/^[^\n]+\n$/) });
    if (doctor === true) {
      const examined = await run("doctor");
      expect(examined.status).toBe(status);
      const lines = `${examined.stdout}${examined.stderr}`.split("\n");
      expect(lines.map((line) => line.replace(/^failed {2,}\S+( \S+)? {2,}/, ""))).toContainEqual(
        expect.stringMatching(says),
      );
    }
    await remove();
  });
});

describe("what this machine cannot be made to answer", () => {
  it.each([
    [{ code: "EACCES", path: "/data/uploads" }, "/data/uploads: the user of the service has no right to use it. Give"],
    [
      { code: "EROFS", path: "/data" },
      "its file system can only be read. Mount it for writing, or set another folder.",
    ],
    [{ code: "ENOSPC", path: "/data" }, "its file system is full. Free some space, or set another folder."],
    [{ code: "EDQUOT", path: "/data" }, "its quota is used up. Free some space, or set another folder."],
    [{ code: "ERR_SQLITE_ERROR", message: "database or disk is full" }, "its file system is full. Free some space"],
    [{ message: "attempt to write a readonly database" }, "the user of the service has no right to use it. Give"],
  ])("DATA_DIR with %j: %s", (error, sentence) => {
    expect(unusableDataDir("/data", error)?.replace("DATA_DIR /data cannot be used: ", "")).toContain(sentence);
  });

  it("leaves errors of other files, and others of the database, to others", () => {
    expect(unusableDataDir("/data", undefined)).toBeUndefined(); // the database is not up to date
    expect(unusableDataDir(tmpdir(), { code: "ENOSPC", path: "/elsewhere/backup" })).toBeUndefined();
    expect(unusableDataDir("/data", { code: "ERR_SQLITE_ERROR", message: "no such table: task" })).toBeUndefined();
  });

  it.each([
    ["EACCES", "the user of the service may not open this port. Choose one from 1024 on."],
    ["EAFNOSUPPORT", "this machine has no IPv6. Set HOST to an IPv4 address."],
    ["EINVAL", "the system answers EINVAL. Check address and port."],
  ])("a port with %s: %s", (code, sentence) => {
    const error = Object.assign(new Error(), { code });
    expect(new CannotListen("::1", 80, error).message).toBe(`Cannot listen on ::1, port 80: ${sentence}`);
  });
});

describe("an old Node.js", () => {
  let preload: string;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-old-node-"));
    preload = join(folder, "preload.cjs");
    await writeFile(
      preload,
      `const [version, ...missing] = process.env.OLD_NODE.split(" ");
       Object.defineProperty(process, "versions", { value: { ...process.versions, node: version } });
       for (const name of missing) (name in process ? process : globalThis)[name] = undefined;`,
    );
  });
  afterAll(() => rm(folder, { recursive: true }));

  const service = async (): Promise<Record<string, string>> => ({
    PANORAMA_API_KEY: "sk-x",
    PANORAMA_BASE_URL: `http://127.0.0.1:${await freePort()}`,
  });
  const LATER = "Install a later version: https://nodejs.org\n";

  it.each([
    [PANORAMA, "18.20.8 getBuiltinModule", 6, `panorama needs Node.js 20.19 or later; this is 18.20.8. ${LATER}`],
    [PANORAMA, "22.2.0 getBuiltinModule", 6, `panorama needs Node.js 22.3 or later; this is 22.2.0. ${LATER}`],
    [
      PANORAMA,
      "20.18.1",
      0,
      `panorama needs Node.js 20.19 or later; this is 20.18.1, with which some of it may fail. ${LATER}`,
    ],
    [PANORAMA, "20.19.0", 0, ""],
    [PANORAMA, "24.0.0", 0, ""],
    [MCP_SERVER, "16.20.2 fetch", 6, `panorama-mcp needs Node.js 20 or later; this is 16.20.2. ${LATER}`],
    [
      MCP_SERVER,
      "18.20.8",
      0,
      `panorama-mcp needs Node.js 20 or later; this is 18.20.8, with which some of it may fail. ${LATER}`,
    ],
    [MCP_SERVER, "20.0.0", 0, ""],
  ])("starts %s with %s, or says what is needed: status %i, %j", async (program, old, status, stderr) => {
    const env = { PATH: process.env.PATH, HOME: folder, OLD_NODE: old, ...(await service()) };
    const args = ["--require", preload, program, ...(program === PANORAMA ? ["--version"] : [])];
    expect(await ended(process.execPath, args, env)).toMatchObject({ status, stderr });
  });

  it("answers a program that asks for JSON with JSON", async () => {
    const env = { PATH: process.env.PATH, OLD_NODE: "18.20.8 getBuiltinModule" };
    const { status, stderr } = await ended(process.execPath, ["--require", preload, PANORAMA, "serve", "--json"], env);
    const message = `panorama needs Node.js 20.19 or later; this is 18.20.8. ${LATER.trimEnd()}`;
    expect({ status, error: JSON.parse(stderr) }).toEqual({
      status: 6,
      error: { error: { code: "configuration", message } },
    });
  });

  it.each([PANORAMA, "dist/bootstrap/start-on-node.cjs", MCP_SERVER])(
    "can read %s from Node.js 10 on",
    async (file) => {
      const text = await readFile(resolve(file), "utf8");
      const supported = { "dynamic-import": true };
      const as = async (target: string) => (await transform(text, { target, supported })).code;
      // esbuild rewrites what a version cannot read.
      expect(await as("node10.0")).toBe(await as("esnext"));
      expect(text).not.toMatch(/^(import|export) /m);
    },
  );
});
