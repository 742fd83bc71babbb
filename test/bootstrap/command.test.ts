import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RestClient } from "../support/rest-client.js";
import { Installation } from "../support/service-process.js";

describe("the panorama command, beside the running service", () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await Installation.create({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    expect(await installation.start()).toEqual({ url: installation.url });
  });
  afterAll(() => installation.remove());

  /** What a successful command prints. */
  const run = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { status, json, stderr } = await installation.command(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return json;
  };
  /** The one line on standard error of a command that fails. */
  const refusal = async (...args: string[]): Promise<string> => {
    const { status, json, stderr } = await installation.command(...args);
    expect({ status, json }).toEqual({ status: 1, json: {} });
    expect(stderr.trimEnd()).not.toContain("\n");
    return stderr.trimEnd();
  };
  const anAccount = async (email: string, ...options: string[]): Promise<string> =>
    String((await run("account", "create", "--email", email, ...options)).account_id);

  it("opens an account with credits and a key that works at once", async () => {
    const opened = await run("account", "create", "--email", "ann@example.com", "--credits", "12", "--key");
    expect(opened).toEqual({ account_id: expect.stringMatching(/^acc_/), api_key: expect.stringMatching(/^sk-/) });
    expect(await new RestClient(installation.url, String(opened.api_key)).credits()).toBe(12);
  });

  it("lets an order be paid, and adds its credits once however often it is paid", async () => {
    const account = await anAccount("bob@example.com");
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

  it("makes a key only with a paid order, lists it, and revokes it at once", async () => {
    const account = await anAccount("cas@example.com");
    expect(await refusal("key", "create", "--account", account)).toBe(`Account ${account} has no paid order.`);
    await run("order", "create", "--account", account, "--credits", "4", "--paid");

    const key = await run("key", "create", "--account", account, "--name", "laptop");
    const client = new RestClient(installation.url, String(key.api_key));
    expect(await client.credits()).toBe(4);
    const listed = { key_id: key.key_id, name: "laptop", created_at: expect.any(String) };
    expect(await run("key", "list", "--account", account)).toEqual({ keys: [{ ...listed, revoked_at: null }] });

    await run("key", "revoke", "--key", String(key.key_id));
    expect((await client.request("/credits")).status).toBe(401);
    expect(await run("key", "list", "--account", account)).toEqual({
      keys: [{ ...listed, revoked_at: expect.any(String) }],
    });
  });

  it("fetches an image again whose storage had failed", async () => {
    const email = "dot@example.com";
    const opened = await run("account", "create", "--email", email, "--credits", "4", "--key");
    const client = new RestClient(installation.url, String(opened.api_key));
    const { id } = await client.create({ prompt: "a lake test:storage-fail", resolution: "1k" });
    expect((await client.untilKept(id)).output?.storage_status).toBe("failed");

    const account = String(opened.account_id);
    const retried = await run("image", "retry", "--task", id, "--account", account);
    expect(retried).toEqual({ task_id: id, storage_status: "uploading" });
    expect((await client.untilKept(id)).output?.storage_status).toBe("failed"); // the sandbox's image is still none
  });

  it("says in one line what is wrong, and ends with 1", async () => {
    const account = await anAccount("eve@example.com");
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
      [["paint"], '"paint'],
      [["ledger", "verify", "--loud"], "--loud"],
    ];
    await Promise.all(refusals.map(async ([command, line]) => expect(await refusal(...command)).toContain(line)));
  });

  it("does not start a second service on the same port, and says so in one line", async () => {
    expect(await refusal("serve")).toMatch(/^Port \d+ on 127\.0\.0\.1 is in use/);
  });

  it("has made no demo account, whose key nobody saw, by a first start that failed", async () => {
    const blocked = await Installation.create();
    try {
      const { PORT } = installation.environment;
      await expect(blocked.start({ PORT: String(PORT) })).rejects.toThrow("is in use");
      expect((await blocked.start()).demo_api_key).toMatch(/^sk-/);
    } finally {
      await blocked.remove();
    }
  });

  it("has nothing to migrate, and ledger that are right", async () => {
    expect(await run("migrate")).toEqual({ status: "up_to_date" });
    expect(await run("ledger", "verify")).toEqual({ accounts: 5, findings: [] });
  });

  it("speaks to people without --json, and shows its help", async () => {
    const command = ["dist/bootstrap/panorama.cjs"];
    const options = { env: installation.environment };
    const verified = await promisify(execFile)(process.execPath, [...command, "ledger", "verify"], options);
    expect(verified.stdout).toBe("5 accounts checked, 0 findings\n");
    const help = await promisify(execFile)(process.execPath, [...command, "--help"], options);
    expect(help.stdout).toContain("panorama account create --email E [--password P] [--credits N] [--key]");
  });
});
