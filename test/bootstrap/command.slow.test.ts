import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSqliteFile } from "../../adapters/persistence/sqlite/open-sqlite-file.js";
import { EXIT_STATUS } from "../../bootstrap/command-error.js";
import { panoramaVersion } from "../../bootstrap/version.js";
import { freePort } from "../support/free-port.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient } from "../support/rest-client.js";
import { type CommandOutcome, Installation } from "../support/service-process.js";

describe("the panorama command while the service runs", () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    expect(await installation.start()).toEqual({ url: installation.url });
  });
  afterAll(() => installation.remove());

  /** Runs a command that must succeed, and returns the JSON that it prints. */
  const run = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { status, json, stderr } = await installation.answer(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return json;
  };
  /** The message of a command that must fail; `code` is checked together with the exit status. */
  const refusal = async (code: keyof typeof EXIT_STATUS, ...args: string[]): Promise<string> =>
    messageOf(code, await installation.answer(...args));
  const messageOf = (code: keyof typeof EXIT_STATUS, outcome: CommandOutcome, logged: string[] = []): string => {
    const { status, json, stderr, error } = outcome;
    expect({ status, json, code: error?.code }).toEqual({ status: EXIT_STATUS[code], json: {}, code });
    const lines = stderr.trimEnd().split("\n");
    expect(JSON.parse(lines.pop() ?? "")).toEqual({ error: { code, message: expect.stringMatching(/^[^\n]+$/) } });
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(logged);
    return error?.message ?? "";
  };
  const createAccount = async (email: string, ...options: string[]): Promise<string> =>
    String((await run("account", "create", "--email", email, ...options)).account_id);

  it("account create opens an account with credits and a key that works immediately", async () => {
    const opened = await run("account", "create", "--email", "ann@example.com", "--credits", "12", "--key");
    expect(opened).toEqual({ account_id: expect.stringMatching(/^acc_/), api_key: expect.stringMatching(/^sk-/) });
    expect(await new RestClient(installation.url, String(opened.api_key)).credits()).toBe(12);
  });

  it("order pay adds the credits once when it is run twice", async () => {
    const account = await createAccount("bob@example.com");
    const order = await run("order", "create", "--account", account, "--credits", "25");
    expect(order).toEqual({ order_id: expect.stringMatching(/^ord_/), status: "pending" });
    expect(await run("ledger", "show", "--account", account)).toEqual({
      remaining_credits: 0,
      entries: [],
      next: null,
    });

    const id = String(order.order_id);
    for (const _ of [1, 2]) expect(await run("order", "pay", "--order", id)).toEqual({ order_id: id, status: "paid" });
    expect(await run("ledger", "show", "--account", account)).toEqual({
      remaining_credits: 25,
      entries: [{ kind: "purchase", credits: 25, at: expect.any(String), order_id: id }],
      next: null,
    });
    const paid = await run("order", "create", "--account", account, "--credits", "5", "--paid");
    expect(paid.status).toBe("paid");
    expect((await run("ledger", "show", "--account", account)).remaining_credits).toBe(30);
  });

  it("webhook commands manage the endpoints of an account", async () => {
    const account = await createAccount("wim@example.com");
    const of = ["--account", account];
    const url = "https://receiver.example.com/hook";
    expect(await refusal("usage", "webhook", "create", ...of, "--url", "http://receiver.example.com")).toContain(
      "--url must be",
    );
    expect(await refusal("not_found", "webhook", "list", "--account", "acc_unknown")).toBe(
      "There is no account acc_unknown.",
    );
    const created = await run("webhook", "create", ...of, "--url", url);
    expect(created).toMatchObject({ url, secret: expect.stringMatching(/^whsec_.{44}$/), off_since: null });
    const endpoint = ["--endpoint", String(created.endpoint_id)];
    const rotated = await run("webhook", "rotate", ...of, ...endpoint);
    expect(rotated).toMatchObject({ url, previous_secret_valid_until: expect.any(String) });
    expect(rotated.secret).not.toBe(created.secret);
    expect(await run("webhook", "enable", ...of, ...endpoint)).toMatchObject({ status: "on" });
    const { endpoints } = await run("webhook", "list", ...of);
    expect(endpoints).toMatchObject([rotated, { url: null, secret: expect.stringMatching(/^whsec_/) }]);
    expect(await run("webhook", "deliveries", ...of)).toEqual({ deliveries: [], next: null });
    expect(await refusal("not_found", "webhook", "deliveries", "--account", "acc_unknown")).toBe(
      "There is no account acc_unknown.",
    );
    const unknown = await refusal("not_found", "webhook", "resend", ...of, "--delivery", "7");
    expect(unknown).toBe("There is no delivery 7 on this account.");
    expect(await refusal("usage", "webhook", "resend", ...of, "--delivery", "x")).toContain("--delivery must be");
    await run("webhook", "delete", ...of, ...endpoint);
    expect(await refusal("not_found", "webhook", "delete", ...of, ...endpoint)).toContain("There is no endpoint");
  });

  it("key create needs a paid order; key list shows the key; key revoke takes effect immediately", async () => {
    const account = await createAccount("cas@example.com");
    expect(await refusal("refused", "key", "create", "--account", account)).toBe(
      `Account ${account} has no paid order.`,
    );
    await run("order", "create", "--account", account, "--credits", "4", "--paid");

    const key = await run("key", "create", "--account", account, "--name", "laptop");
    const client = new RestClient(installation.url, String(key.api_key));
    expect(await client.credits()).toBe(4);
    const listed = {
      key_id: key.key_id,
      name: "laptop",
      created_at: expect.any(String),
      scopes: ["read", "create"],
      expires_at: null,
      credits_per_day: null,
      credits_per_month: null,
      // Stored once a minute.
      last_used_at: expect.toSatisfy((at) => at === null || !Number.isNaN(Date.parse(at))),
      spent_today: 0,
      spent_this_month: 0,
      prefix: String(key.api_key).slice(0, 11),
    };
    expect(await run("key", "list", "--account", account)).toEqual({ keys: [{ ...listed, revoked_at: null }] });

    await run("key", "revoke", "--key", String(key.key_id));
    expect((await client.request("/credits")).status).toBe(401);
    expect(await run("key", "list", "--account", account)).toEqual({
      keys: [{ ...listed, revoked_at: expect.any(String) }],
    });
  });

  it("key create makes a key with limits, and key list shows them with the spending", async () => {
    const account = await createAccount("lim@example.com", "--credits", "100");
    const create = ["key", "create", "--account", account, "--name", "robot"];
    const limits = ["--expires-at", "2999-12-31", "--credits-per-day", "7", "--credits-per-month", "100"];
    const key = await run(...create, "--scopes", "read, create", ...limits);
    const shown = {
      scopes: ["read", "create"],
      expires_at: "2999-12-31T00:00:00.000Z",
      credits_per_day: 7,
      credits_per_month: 100,
    };
    expect(key).toMatchObject(shown);
    const client = new RestClient(installation.url, String(key.api_key));
    const { id } = await client.create({ prompt: "a foggy ocean test:plain", resolution: "1k" });
    await client.untilKept(id);
    const refused = await client.request("/panoramas", {
      method: "POST",
      body: JSON.stringify({ prompt: "a foggy ocean test:plain", resolution: "1k" }),
    });
    expect(refused.status).toBe(402);
    expect(await run("key", "list", "--account", account)).toMatchObject({
      keys: [{ key_id: key.key_id, ...shown, spent_today: 4, spent_this_month: 4 }],
    });

    const reader = await run(...create, "--scopes", "read");
    expect(reader.scopes).toEqual(["read"]);
    for (const [option, value, message] of [
      ["--scopes", "write", '--scopes must be "read" or "create", but is "write".'],
      ["--expires-at", "2001-01-01", "--expires-at must be a time in the future"],
      ["--credits-per-day", "0", "--credits-per-day must be an integer from 1 to 1000000000, but is"],
      ["--credits-per-month", "1.5", "--credits-per-month must be an integer from 1 to 1000000000, but is"],
    ] as const) {
      expect(await refusal("usage", ...create, option, value)).toContain(message);
    }
  });

  it("account create reads a password from standard input that logs in", async () => {
    const email = "ida@example.com";
    const created = await installation.commandWithInput(
      "the first password\n",
      ...["account", "create", "--email", email, "--password-stdin"],
    );
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
      const message = await refusal("usage", ...mistaken);
      expect([mistaken, message.includes("horse")]).toEqual([mistaken, false]);
    }
  });

  it("prints one line per error, with an exit status per kind", async () => {
    const account = await createAccount("eve@example.com");
    const refusals: [code: keyof typeof EXIT_STATUS, command: string[], line: string][] = [
      [
        "refused",
        ["account", "create", "--email", "EVE@example.com "],
        "An account for eve@example.com already exists.",
      ],
      ["usage", ["account", "create", "--email", "nobody"], '"nobody"'],
      ["usage", ["account", "create"], "--email"],
      ["usage", ["account", "create", "--email", "f@example.com", "--key"], "paid order"],
      ["usage", ["order", "create", "--account", account, "--credits", "1.5"], "1.5"],
      ["not_found", ["order", "create", "--account", "acc_0", "--credits", "5"], "There is no account acc_0."],
      ["not_found", ["order", "pay", "--order", "ord_0"], "There is no order ord_0."],
      ["not_found", ["key", "revoke", "--key", "key_0"], "key_0"],
      ["not_found", ["ledger", "show", "--account", "acc_0"], "There is no account acc_0."],
      ["not_found", ["task", "retry", "--task", "pan_0"], "pan_0"],
      ["usage", ["task", "retry"], "--all"],
      ["usage", ["task", "retry", "--all", "--task", "pan_0"], "--all"],
      ["usage", ["paint"], 'Unknown command "paint"'],
      ["usage", ["ledger", "verify", "--loud"], "--loud"],
    ];
    await Promise.all(
      refusals.map(async ([code, command, line]) => expect(await refusal(code, ...command)).toContain(line)),
    );
  });

  it("exits with 4 if PostgreSQL or the service cannot be reached, and with 6 for a wrong configuration", async () => {
    const of = (environment: Record<string, string>) => Installation.create({ ...environment });
    const port = await freePort();
    const unreachable = await of({ DATABASE_URL: `postgresql://a:b@127.0.0.1:${port}/c` });
    for (const words of [["ledger", "verify"], ["migrate"]]) {
      expect(messageOf("unreachable", await unreachable.answer(...words))).toMatch(/^PostgreSQL cannot be reached: /);
    }
    const offline = await of({ PANORAMA_API_KEY: "sk-x", PANORAMA_BASE_URL: `http://127.0.0.1:${port}` });
    expect(messageOf("unreachable", await offline.command("generate", "a lake"))).toContain("network_error");
    const mistyped = await of({ PORT: "many" });
    expect(messageOf("configuration", await mistyped.answer("ledger", "verify"))).toContain("PORT");
    const noFile = await of({
      PROVIDER: "comfyui",
      COMFYUI_BASE_URL: "http://127.0.0.1:9",
      COMFYUI_WORKFLOW: "none.json",
    });
    expect(messageOf("configuration", await noFile.command("serve"), ["starting"])).toContain(
      "COMFYUI_WORKFLOW=none.json",
    );
    for (const installation of [unreachable, offline, mistyped, noFile]) await installation.remove();
  });

  it("makes no database where there is none, unless it is serve or migrate", async () => {
    const empty = await Installation.create();
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
    expect((await empty.answer("ledger", "verify")).json).toEqual({ accounts: 0, findings: [] });

    // As an earlier version has left it.
    const database = openSqliteFile(file);
    database.all("delete from schema_migration where name = (select max(name) from schema_migration)", []);
    database.close();
    expect(messageOf("configuration", await empty.answer("ledger", "verify"))).toBe(
      `The database ${file} is not up to date: run panorama migrate first.`,
    );
    await empty.remove();
  });

  it("serve reports a used port in its last line", async () => {
    const other = await Installation.create({ PORT: String(installation.environment.PORT) });
    try {
      expect(messageOf("refused", await other.command("serve"), ["starting"])).toMatch(
        /^Port \d+ on 127\.0\.0\.1 is in use.*$/,
      );
    } finally {
      await other.remove();
    }
  });

  it("serve creates no demo account if the start fails", async () => {
    const blocked = await Installation.create();
    try {
      const { PORT } = installation.environment;
      await expect(blocked.start({ PORT: String(PORT) })).rejects.toThrow("is in use");
      expect((await blocked.start()).demo_api_key).toMatch(/^sk-/);
    } finally {
      await blocked.remove();
    }
  });

  it("migrate reports up_to_date, and ledger verify finds no error", async () => {
    expect(await run("migrate")).toEqual({ status: "up_to_date" });
    expect(await run("ledger", "verify")).toEqual({ accounts: 7, findings: [] });
  });

  const printed = async (...args: string[]) =>
    promisify(execFile)(process.execPath, ["dist/bootstrap/panorama.cjs", ...args], { env: installation.environment });

  it("prints sentences without --json", async () => {
    expect((await printed("ledger", "verify")).stdout).toBe("7 accounts checked, 0 findings\n");
    const failed = await printed("paint").catch((error: { code: number; stderr: string }) => error);
    expect(failed).toMatchObject({
      code: 2,
      stderr: 'Unknown command "paint". Run panorama --help for a list of commands.\n',
    });
  });

  it("--help lists all commands or a group, or explains one command with options and an example", async () => {
    const all = (await printed("--help")).stdout;
    expect(all).toContain("\n  panorama account create --email E [--password-stdin] [--credits N] [--key]\n");
    expect(all).toContain("\n  panorama serve\n");
    const group = (await printed("key", "--help")).stdout;
    expect(group).toContain("panorama key revoke");
    expect(group).not.toContain("panorama serve");
    expect((await printed("key", "revoke", "--help")).stdout).toBe(
      [
        "Usage: panorama key revoke --key ID | --secret-stdin | --account ID",
        "",
        "Revokes a key, or all keys of an account. They are refused from now on.",
        "",
        "  --key …         id of the key, not the key itself",
        "  --secret-stdin  read the key itself from standard input, such as one that has leaked",
        "  --account …     id of the account",
        "  --json          print one JSON object, also for an error",
        "",
        "Example: panorama key revoke --key key_…",
        "",
      ].join("\n"),
    );
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
