import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openSqliteFile } from "../../adapters/persistence/database/sqlite/open-sqlite-file.js";
import { EXIT_STATUS } from "../../bootstrap/command-error.js";
import { panoramaVersion } from "../../bootstrap/version.js";
import { FakeGcs } from "../support/fake-gcs.js";
import { freePort } from "../support/free-port.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { type CommandOutcome, Installation } from "../support/service-process.js";

type Code = keyof typeof EXIT_STATUS;

/** The message of a command that has failed with this code and its exit status, behind these events of the log. */
const messageOf = (code: Code, { status, json, stderr, error }: CommandOutcome, logged: string[] = []): string => {
  expect({ status, json, code: error?.code }).toEqual({ status: EXIT_STATUS[code], json: {}, code });
  const lines = stderr.trimEnd().split("\n");
  expect(JSON.parse(lines.pop() ?? "")).toEqual({ error: { code, message: expect.stringMatching(/^[^\n]+$/) } });
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(logged);
  return error?.message ?? "";
};

const anInstallation = async (environment: Record<string, string> = {}): Promise<Installation> => {
  const installation = await Installation.create(environment);
  onTestFinished(() => installation.remove());
  return installation;
};

describe("the panorama command while the service runs", () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    expect(await installation.start()).toEqual({ url: installation.url });
  });
  afterAll(() => installation.remove());

  it("account create reads a password from standard input that logs in", async () => {
    const email = "ida@example.com";
    const options = ["--email", email, "--password-stdin"];
    const created = await installation.commandWithInput("the first password\n", "account", "create", ...options);
    expect(created.status).toBe(0);
    const login = async (password: string) => {
      const body = new URLSearchParams({ email, password });
      const headers = { origin: installation.url };
      return (await fetch(`${installation.url}/login`, { method: "POST", redirect: "manual", body, headers })).status;
    };
    expect(await login("the first password")).toBe(303);
    expect(await login("the second password")).toBe(401);
  });

  it("repeats no password that is on the command line by mistake", async () => {
    const secret = "correct horse battery";
    const create = ["account", "create", "--email", "jim@example.com", "--password-stdin"];
    for (const mistaken of [
      [...create, "--password", secret],
      [...create, `--password=${secret}`],
      [...create, `-p${secret}`],
      [...create, secret],
      ["account", "crate", "--email", "jim@example.com", secret],
      ["account", "crate", secret],
    ]) {
      const message = messageOf("usage", await installation.answer(...mistaken));
      expect([mistaken, message.includes("horse")]).toEqual([mistaken, false]);
    }
  });

  it("prints one line per error, with an exit status per kind", async () => {
    await installation.run("account", "create", "--email", "eve@example.com");
    const refusals: [code: Code, command: string, line: string][] = [
      ["refused", "account create --email EVE@example.com", "An account for eve@example.com already exists."],
      ["usage", "account create --email nobody", '"nobody"'],
      ["usage", "account create", "--email"],
      ["usage", "account create --email f@example.com --key", "paid order"],
      ["usage", "account show", "Give either --account ID or --email E."],
      ["usage", "account show --account acc_0 --email a@example.com", "Give either --account ID or --email E."],
      ["usage", "account show --email ann", '"ann"'],
      ["not_found", "account show --email no@example.com", "There is no account for no@example.com."],
      ["not_found", "account show --account acc_0", "There is no account acc_0."],
      ["usage", "account list --limit 0", "--limit must be an integer from 1 to 1000."],
      ["usage", "audit list --before x", "--before"],
      ["usage", "order create --account acc_0 --credits 1.5", "1.5"],
      ["not_found", "order create --account acc_0 --credits 5", "There is no account acc_0."],
      ["not_found", "order pay --order ord_0", "There is no order ord_0."],
      ["usage", "credits grant --account acc_0 --credits -1 --reason x", "--credits"],
      ["usage", "credits grant --account acc_0 --credits 1 --reason ", "must have 1 to 200 characters, but has 0."],
      ["not_found", "credits grant --account acc_0 --credits 1 --reason x", "There is no account acc_0."],
      ["not_found", "key revoke --key key_0", "key_0"],
      ["not_found", "key limits --key key_0", "key_0"],
      ["not_found", "ledger show --account acc_0", "There is no account acc_0."],
      ["usage", "ledger verify --loud", "--loud"],
      ["not_found", "task list --account acc_0", "There is no account acc_0."],
      ["not_found", "task show --task pan_0", "There is no task pan_0."],
      ["not_found", "task cancel --task pan_0", "There is no task pan_0."],
      ["not_found", "task retry --task pan_0", "There is no task pan_0."],
      ["usage", "task retry", "--all"],
      ["usage", "task retry --all --task pan_0", "--all"],
      ["not_found", "webhook list --account acc_0", "There is no account acc_0."],
      ["not_found", "webhook deliveries --account acc_0", "There is no account acc_0."],
      ["usage", "payments reconcile --from yesterday", "--from"],
      ["refused", "payments reconcile --from 2026-05-03", "Stripe cannot be asked: STRIPE_SECRET_KEY is not set."],
      ["usage", "paint", 'Unknown command "paint"'],
    ];
    for (const [code, command, line] of refusals) {
      expect(messageOf(code, await installation.answer(...command.split(" ")))).toContain(line);
    }
  });

  it("exits with 4 if PostgreSQL or the service cannot be reached, and with 6 for a wrong configuration", async () => {
    const port = await freePort();
    const unreachable = await anInstallation({ DATABASE_URL: `postgresql://a:b@127.0.0.1:${port}/c` });
    for (const words of [["ledger", "verify"], ["migrate"]]) {
      expect(messageOf("unreachable", await unreachable.answer(...words))).toMatch(/^PostgreSQL cannot be reached: /);
    }
    const offline = await anInstallation({ PANORAMA_API_KEY: "sk-x", PANORAMA_BASE_URL: `http://127.0.0.1:${port}` });
    expect(messageOf("unreachable", await offline.command("generate", "a lake"))).toContain("network_error");
    const mistyped = await anInstallation({ PORT: "many" });
    expect(messageOf("configuration", await mistyped.answer("ledger", "verify"))).toContain("PORT");
    const worker = { PROVIDER: "comfyui", COMFYUI_BASE_URL: "http://127.0.0.1:9", COMFYUI_WORKFLOW: "none.json" };
    const serve = async (environment: Record<string, string>) => (await anInstallation(environment)).command("serve");
    const served = messageOf("configuration", await serve(worker), ["starting"]);
    expect(served).toContain("COMFYUI_WORKFLOW=none.json");
    const gcs = await FakeGcs.start();
    onTestFinished(() => gcs.close());
    const bucket = { STORAGE: "gcs", GCS_BUCKET: "mistyped", GCS_API_ENDPOINT: gcs.url };
    const unusable = "The bucket mistyped is not usable: Cloud Storage answered 404.";
    expect(messageOf("configuration", await serve(bucket), ["starting"])).toContain(unusable);
  });

  it("makes no database where there is none, unless it is serve or migrate", async () => {
    const empty = await anInstallation();
    const missing = { ...empty.environment, DATA_DIR: join(empty.dataDir, "mistyped") };
    Object.assign(empty.environment, missing);
    const file = join(missing.DATA_DIR, "panorama.sqlite");
    for (const words of [
      ["ledger", "verify"],
      ["account", "create", "--email", "a@example.com"],
      ["task", "retry", "--all"],
    ]) {
      expect(messageOf("configuration", await empty.answer(...words))).toBe(
        `There is no database ${file}. Check DATA_DIR. panorama serve or panorama migrate makes a new database.`,
      );
    }
    expect(await readdir(empty.dataDir)).toEqual([]);
    expect((await empty.command("migrate")).status).toBe(0);
    expect(await empty.run("migrate")).toEqual({ status: "up_to_date" });
    expect(await empty.run("ledger", "verify")).toEqual({ accounts: 0, findings: [] });

    // As an earlier version has left it.
    const database = openSqliteFile(file);
    database.all("delete from schema_migration where name = (select max(name) from schema_migration)", []);
    database.close();
    expect(messageOf("configuration", await empty.answer("ledger", "verify"))).toBe(
      `The database ${file} is not up to date: run panorama migrate first.`,
    );
  });

  it("serve reports a used port in its last line, and has created no demo account", async () => {
    const { PORT = "" } = installation.environment;
    const blocked = await anInstallation();
    const free = blocked.environment.PORT;
    Object.assign(blocked.environment, { PORT });
    expect(messageOf("refused", await blocked.command("serve"), ["starting"])).toMatch(
      /^Port \d+ on 127\.0\.0\.1 is in use.*$/,
    );
    Object.assign(blocked.environment, { PORT: free });
    expect((await blocked.start()).demo_api_key).toMatch(/^sk-/);
  });

  const printed = async (...args: string[]) =>
    promisify(execFile)(process.execPath, ["dist/bootstrap/panorama.cjs", ...args], { env: installation.environment });

  it("prints sentences and lines without --json", async () => {
    await installation.run("account", "create", "--email", "ann@example.com");
    expect((await printed("account", "list", "--limit", "1")).stdout).toMatch(
      /^acc_\S+ {2}\S+Z {2}open {2}0 credits {2}0 active tasks {2}ann@example.com\n/,
    );
    const failed = await printed("paint").catch((error: { code: number; stderr: string }) => error);
    expect(failed).toMatchObject({
      code: 2,
      stderr: 'Unknown command "paint". Run panorama help for a list of commands.\n',
    });
  });

  it("help lists all commands or a group, or explains one command with options and an example", async () => {
    const all = (await printed("help")).stdout;
    expect((await printed("--help")).stdout).toBe(all);
    expect(all).toContain("\n    0  done\n    1  failed: anything else;");
    expect(all).toContain("\n    6  configuration: an environment variable is wrong");
    expect((await printed("help", "key", "revoke")).stdout).toBe((await printed("key", "revoke", "--help")).stdout);
    expect(all).toContain("\n  panorama account create --email E [--password-stdin] [--credits N] [--key]\n");
    expect(all).toContain("\n  panorama serve\n");
    const group = (await printed("help", "key")).stdout;
    expect(group).toContain("panorama key revoke");
    expect(group).not.toContain("panorama serve");
    const one = (await printed("key", "revoke", "--help")).stdout;
    expect(one).toMatch(
      /^Usage: panorama key revoke .*\n\nRevokes .* Recorded in the operator log\.\n\n {2}--key … .*\n\nExample: panorama key revoke/s,
    );
    expect(one).toContain("  --json          print one JSON object, also for an error\n");
  });

  it("--version prints the package version and the beginning of the build digest", async () => {
    const { version: released } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
    const version = `${released}+${(await readFile("dist/sources.sha256", "utf8")).slice(0, 8)}`;
    expect(version).toMatch(/^\d+\.\d+\.\d+\+[0-9a-f]{8}$/);
    expect(panoramaVersion()).toBe(released); // from the sources, of which nothing says what they are
    expect((await printed("--version")).stdout).toBe(`${version}\n`);
    expect((await installation.command("--version")).json).toEqual({ version });
  });
});
