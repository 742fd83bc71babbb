import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RestClient } from "../support/rest-client.js";
import { Installation } from "../support/service-process.js";

describe("the panorama command while the service runs", () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await Installation.create({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    expect(await installation.start()).toEqual({ url: installation.url });
  });
  afterAll(() => installation.remove());

  /** Runs a command that must succeed, and returns the JSON that it prints. */
  const run = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { status, json, stderr } = await installation.command(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return json;
  };
  /** Runs a command that must fail, and returns the single line that it prints to standard error. */
  const refusal = async (...args: string[]): Promise<string> => {
    const { status, json, stderr } = await installation.command(...args);
    expect({ status, json }).toEqual({ status: 1, json: {} });
    expect(stderr.trimEnd()).not.toContain("\n");
    return stderr.trimEnd();
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
    expect(await run("ledger", "show", "--account", account)).toEqual({ remaining_credits: 0, entries: [] });

    const id = String(order.order_id);
    for (const _ of [1, 2]) expect(await run("order", "pay", "--order", id)).toEqual({ order_id: id, status: "paid" });
    expect(await run("ledger", "show", "--account", account)).toEqual({
      remaining_credits: 25,
      entries: [{ kind: "purchase", credits: 25, at: expect.any(String), order_id: id }],
    });
    const paid = await run("order", "create", "--account", account, "--credits", "5", "--paid");
    expect(paid.status).toBe("paid");
    expect((await run("ledger", "show", "--account", account)).remaining_credits).toBe(30);
  });

  it("webhook commands manage the endpoints of an account", async () => {
    const account = await createAccount("wim@example.com");
    const of = ["--account", account];
    const url = "https://receiver.example.com/hook";
    expect(await refusal("webhook", "create", ...of, "--url", "http://receiver.example.com")).toContain(
      "--url must be",
    );
    expect(await refusal("webhook", "list", "--account", "acc_unknown")).toBe("There is no account acc_unknown.");
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
    expect(await refusal("webhook", "deliveries", "--account", "acc_unknown")).toBe("There is no account acc_unknown.");
    const unknown = await refusal("webhook", "resend", ...of, "--delivery", "7");
    expect(unknown).toBe("There is no delivery 7 on this account.");
    expect(await refusal("webhook", "resend", ...of, "--delivery", "x")).toContain("--delivery must be");
    await run("webhook", "delete", ...of, ...endpoint);
    expect(await refusal("webhook", "delete", ...of, ...endpoint)).toContain("There is no endpoint");
  });

  it("key create needs a paid order; key list shows the key; key revoke takes effect immediately", async () => {
    const account = await createAccount("cas@example.com");
    expect(await refusal("key", "create", "--account", account)).toBe(`Account ${account} has no paid order.`);
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
    const { id } = await client.create({ prompt: "a foggy ocean", resolution: "1k" });
    await client.untilKept(id);
    const refused = await client.request("/panoramas", {
      method: "POST",
      body: JSON.stringify({ prompt: "a foggy ocean", resolution: "1k" }),
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
      expect(await refusal(...create, option, value)).toContain(message);
    }
  });

  it("account set-low-balance sets and removes the threshold", async () => {
    const account = await createAccount("low@example.com");
    const set = ["account", "set-low-balance", "--account", account];
    expect(await run(...set, "--credits", "50")).toEqual({ account_id: account, low_balance: 50 });
    expect(await run(...set, "--off")).toEqual({ account_id: account, low_balance: null });
    expect(await refusal(...set)).toBe("Give either --credits N or --off.");
    expect(await refusal(...set, "--credits", "5", "--off")).toBe("Give either --credits N or --off.");
    expect(await refusal(...set, "--credits", "0")).toContain("--credits must be an integer from 1 to 1000000000");
    const unknown = ["account", "set-low-balance", "--account", "acc_nobody", "--off"];
    expect(await refusal(...unknown)).toBe("There is no account acc_nobody.");
  });

  it("account set-password sets a password that logs in, from an option or from standard input", async () => {
    const email = "ida@example.com";
    await createAccount(email, "--password", "the first password");
    const login = async (password: string) => {
      const body = new URLSearchParams({ email, password });
      const headers = { origin: installation.url };
      return (await fetch(`${installation.url}/login`, { method: "POST", redirect: "manual", body, headers })).status;
    };
    const set = await run("account", "set-password", "--email", email, "--password", "the second password");
    expect(set).toEqual({ email, status: "password_set" });
    expect(await login("the first password")).toBe(401);
    expect(await login("the second password")).toBe(303);

    const { environment: env } = installation;
    const args = ["dist/bootstrap/panorama.cjs", "account", "set-password", "--email", email];
    const piped = execFileSync(process.execPath, args, { env, input: "the third password\n", encoding: "utf8" });
    expect(piped).toBe(`the password of ${email} is set, and all its sessions are ended\n`);
    expect(await login("the third password")).toBe(303);
  });

  it("account set-password refuses an unknown account and a password that breaks a rule", async () => {
    const setPassword = ["account", "set-password", "--email", "nobody@example.com", "--password"];
    expect(await refusal(...setPassword, "the second password")).toBe("There is no account for nobody@example.com.");
    const short = await refusal(...setPassword, "too short");
    expect(short).toBe("--password must have 10 to 200 characters, but has 9.");
    expect(await refusal("account", "create", "--email", "long@example.com", "--password", "x".repeat(201))).toContain(
      "--password must have 10 to 200 characters",
    );
  });

  it("image retry fetches an image again after its storage failed", async () => {
    const email = "dot@example.com";
    const opened = await run("account", "create", "--email", email, "--credits", "4", "--key");
    const client = new RestClient(installation.url, String(opened.api_key));
    const { id } = await client.create({ prompt: "a foggy ocean test:storage-fail", resolution: "1k" });
    expect((await client.untilKept(id)).output?.storage_status).toBe("failed");

    const account = String(opened.account_id);
    const retried = await run("image", "retry", "--task", id, "--account", account);
    expect(retried).toEqual({ task_id: id, storage_status: "uploading" });
    expect((await client.untilKept(id)).output?.storage_status).toBe("failed"); // the local provider still has no image for it

    expect(await run("image", "retry", "--all")).toEqual({ retried: 1 });
    expect((await client.untilKept(id)).output?.storage_status).toBe("failed");
  });

  it("prints one line about invalid input and exits with 1", async () => {
    const account = await createAccount("eve@example.com");
    const refusals: [command: string[], line: string][] = [
      [["account", "create", "--email", "EVE@example.com "], "An account for eve@example.com already exists."],
      [["account", "create", "--email", "nobody"], '"nobody"'],
      [["account", "create"], "--email"],
      [["account", "create", "--email", "f@example.com", "--key"], "paid order"],
      [["order", "create", "--account", account, "--credits", "1.5"], "1.5"],
      [["order", "create", "--account", "acc_0", "--credits", "5"], "There is no account acc_0."],
      [["order", "pay", "--order", "ord_0"], "There is no order ord_0."],
      [["key", "revoke", "--key", "key_0"], "key_0"],
      [["ledger", "show", "--account", "acc_0"], "There is no account acc_0."],
      [["image", "retry", "--task", "pan_0", "--account", account], "pan_0"],
      [["image", "retry"], "--all"],
      [["image", "retry", "--task", "pan_0"], "--account"],
      [["image", "retry", "--all", "--account", account], "only --all"],
      [["paint"], '"paint'],
      [["ledger", "verify", "--loud"], "--loud"],
    ];
    await Promise.all(refusals.map(async ([command, line]) => expect(await refusal(...command)).toContain(line)));
  });

  it("serve fails with one line when the port is in use", async () => {
    const other = await Installation.create({ PORT: String(installation.environment.PORT) });
    try {
      const { status, stderr } = await other.command("serve");
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringMatching(/^Port \d+ on 127\.0\.0\.1 is in use.*\n$/),
      });
    } finally {
      await other.remove();
    }
  });

  it("serve creates no demo account when a start fails, so that the next start prints its key", async () => {
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
    expect(await run("ledger", "verify")).toEqual({ accounts: 9, findings: [] });
  });

  it("prints sentences without --json, and its usage with --help", async () => {
    const command = ["dist/bootstrap/panorama.cjs"];
    const options = { env: installation.environment };
    const verified = await promisify(execFile)(process.execPath, [...command, "ledger", "verify"], options);
    expect(verified.stdout).toBe("9 accounts checked, 0 findings\n");
    const help = await promisify(execFile)(process.execPath, [...command, "--help"], options);
    expect(help.stdout).toContain("panorama account create --email E [--password P] [--credits N] [--key]");
  });
});
