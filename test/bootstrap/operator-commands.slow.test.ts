import { execFile } from "node:child_process";
import { hostname, userInfo } from "node:os";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EXIT_STATUS } from "../../bootstrap/command-error.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";

describe("the operator's commands while the service runs", () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    await installation.start();
  });
  afterAll(() => installation.remove());

  const run = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { status, json, stderr } = await installation.answer(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return json;
  };
  const refusal = async (...args: string[]): Promise<[code: keyof typeof EXIT_STATUS | undefined, message: string]> => {
    const { json, error } = await installation.answer(...args);
    expect(json).toEqual({});
    return [error?.code as keyof typeof EXIT_STATUS, error?.message ?? ""];
  };
  const customer = async (email: string) => {
    const opened = await run("account", "create", "--email", email, "--credits", "20", "--key");
    return { account: String(opened.account_id), client: new RestClient(installation.url, String(opened.api_key)) };
  };
  const prompt = "a foggy ocean test:plain";

  it("account list and show name every account without SQL", async () => {
    const [ann, bob] = [await customer("ann@example.com"), await customer("bob@example.org")];
    const { id } = await ann.client.create({ prompt, resolution: "1k" });
    await ann.client.untilKept(id);
    const shownAnn = {
      account_id: ann.account,
      email: "ann@example.com",
      created_at: expect.any(String),
      closed_at: null,
      suspended_because: null,
      credits: 16,
      active_tasks: 0,
    };
    const listed = await run("account", "list", "--limit", "1");
    expect(listed).toMatchObject({
      accounts: [{ account_id: bob.account, email: "bob@example.org" }],
      next: bob.account,
    });
    expect(await run("account", "list", "--before", bob.account)).toEqual({ accounts: [shownAnn], next: null });
    const shown = {
      ...shownAnn,
      reserved_credits: 0,
      spent_credits: 4,
      debt: 0,
      disputed_payments: 0,
      low_balance: null,
      keys: 1,
      paid_orders: 1,
      webhook_endpoints: 0,
    };
    expect(await run("account", "show", "--account", ann.account)).toEqual(shown);
    expect(await run("account", "show", "--email", "ANN@example.com ")).toEqual(shown);
    expect(await refusal("account", "show", "--email", "no@example.com")).toEqual([
      "not_found",
      "There is no account for no@example.com.",
    ]);
    const either = ["usage", "Give either --account ID or --email E."];
    expect(await refusal("account", "show")).toEqual(either);
    expect(await refusal("account", "show", "--account", ann.account, "--email", "a@example.com")).toEqual(either);
    expect((await refusal("account", "show", "--email", "ann"))[0]).toBe("usage");
    expect(await refusal("account", "show", "--account", "acc_0")).toEqual(["not_found", "There is no account acc_0."]);
    expect(await refusal("account", "list", "--limit", "0")).toEqual([
      "usage",
      "--limit must be an integer from 1 to 1000.",
    ]);
  });

  it("credits grant and take change the balance with an entry of their own, never below zero", async () => {
    const { account, client } = await customer("cas@example.com");
    const of = (credits: string, reason: string) => ["--account", account, "--credits", credits, "--reason", reason];
    expect(await run("credits", "grant", ...of("5", "For the outage"))).toEqual({
      account_id: account,
      remaining_credits: 25,
    });
    expect(await client.credits()).toBe(25);
    expect(await refusal("credits", "take", ...of("26", "Charged back"))).toEqual([
      "refused",
      `Account ${account} has only 25 credits, so 26 cannot be taken.`,
    ]);
    await run("credits", "take", ...of("25", "Charged back"));
    expect(await client.credits()).toBe(0);
    const at = expect.any(String);
    expect((await run("ledger", "show", "--account", account)).entries).toEqual([
      { kind: "purchase", credits: 20, at, order_id: expect.stringMatching(/^ord_/) },
      { kind: "adjustment", credits: 5, at, reason: "For the outage" },
      { kind: "adjustment", credits: -25, at, reason: "Charged back" },
    ]);
    expect((await run("account", "show", "--account", account)).spent_credits).toBe(0);
    expect((await refusal("credits", "grant", ...of("1", " ")))[1]).toBe(
      "--reason must have 1 to 200 characters, but has 0.",
    );
    expect((await refusal("credits", "grant", ...of("-1", "x")))[0]).toBe("usage");
    expect((await refusal("credits", "grant", "--account", "acc_0", "--credits", "1", "--reason", "x"))[0]).toBe(
      "not_found",
    );
  });

  it("task list, show, cancel and retry work on tasks of any account", async () => {
    const { account, client } = await customer("dot@example.com");
    const { id: failedImage } = await client.create({ prompt: "a foggy ocean test:storage-fail", resolution: "1k" });
    await client.untilKept(failedImage);
    expect(await run("task", "show", "--task", failedImage)).toMatchObject({
      made_by: "local",
      seam: expect.any(Number),
      seam_ratio: expect.any(Number),
      zenith_deviation: expect.any(Number),
      nadir_deviation: expect.any(Number),
    });
    const { id: slow } = await client.create({ prompt: "a foggy ocean test:slow", resolution: "1k" });
    const listed = await run("task", "list", "--account", account);
    expect(listed).toMatchObject({
      tasks: [
        { task_id: slow, account_id: account, status: "processing", made_by: "local", ended_at: null, seam: null },
        { task_id: failedImage, state: "succeeded", made_by: "local", storage_status: "failed", deleted: false },
      ],
      next: null,
    });
    expect(JSON.stringify(listed)).not.toContain("foggy");
    for (const _ of [1, 2]) {
      expect(await run("task", "cancel", "--task", slow)).toEqual({ task_id: slow, status: "canceled" });
    }
    expect(await run("task", "show", "--task", slow)).toMatchObject({
      state: "failed",
      reason: "canceled",
      made_by: "local",
      seam_ratio: null,
    });
    expect(await client.credits()).toBe(16);
    expect(await refusal("task", "cancel", "--task", failedImage)).toEqual([
      "refused",
      `Task ${failedImage} has already succeeded.`,
    ]);

    expect(await run("task", "retry", "--task", failedImage)).toEqual({
      task_id: failedImage,
      storage_status: "uploading",
    });
    expect((await refusal("task", "retry", "--task", slow))[0]).toBe("not_found");
    for (const words of ["show", "cancel", "retry"]) {
      expect(await refusal("task", words, "--task", "pan_0")).toEqual(["not_found", "There is no task pan_0."]);
    }
    expect((await refusal("task", "list", "--account", "acc_0"))[0]).toBe("not_found");
  });

  it("key limits changes the given limits, and a new budget counts earlier spending", async () => {
    const { account, client } = await customer("eva@example.com");
    const { id } = await client.create({ prompt, resolution: "1k" });
    await client.untilKept(id);
    const [key] = (await run("key", "list", "--account", account)).keys as { key_id: string }[];
    const of = ["key", "limits", "--key", key?.key_id ?? ""];
    const none = {
      key_id: key?.key_id,
      account_id: account,
      scopes: ["read", "create"],
      expires_at: null,
      credits_per_day: null,
      credits_per_month: null,
    };
    expect(await run(...of)).toEqual(none);
    expect(await run(...of, "--credits-per-day", "7")).toEqual({ ...none, credits_per_day: 7 });
    const body = JSON.stringify({ prompt, resolution: "1k" });
    expect((await client.request("/panoramas", { method: "POST", body })).status).toBe(402);
    expect(await run(...of, "--credits-per-month", "100", "--credits-per-day", "none")).toEqual({
      ...none,
      credits_per_month: 100,
    });
    expect((await client.request("/panoramas", { method: "POST", body })).status).toBe(202);
    expect(await run(...of, "--scopes", "create")).toMatchObject({ scopes: ["create"], credits_per_month: 100 });
    expect((await client.request("/credits")).status).toBe(401);
    expect((await refusal(...of, "--expires-at", "2001-01-01"))[0]).toBe("usage");
    expect((await refusal("key", "limits", "--key", "key_0"))[0]).toBe("not_found");
  });

  it("account close deletes everything about a person", async () => {
    const { account, client } = await customer("fay@example.com");
    const { id } = await client.create({ prompt: "my own garden test:plain", resolution: "1k" });
    const image = (await client.untilKept(id)).output?.image_url ?? "";
    expect((await fetch(image)).status).toBe(200);

    const close = ["account", "close", "--account", account, "--confirm"];
    expect(await refusal(...close, "ann@example.com")).toEqual([
      "usage",
      `--confirm must be the e-mail address of account ${account}. panorama account show prints it.`,
    ]);
    const { id: slow } = await client.create({ prompt: "test:slow", resolution: "1k" });
    expect((await refusal(...close, "fay@example.com"))[0]).toBe("refused");
    await run("task", "cancel", "--task", slow);
    for (const _ of [1, 2]) {
      expect(await run(...close, "fay@example.com")).toEqual({ account_id: account, status: "closed" });
    }
    expect((await client.request("/credits")).status).toBe(401);
    expect((await refusal("account", "show", "--email", "fay@example.com"))[0]).toBe("not_found");
    expect(await run("account", "show", "--account", account)).toMatchObject({
      email: `closed-${account}@closed.invalid`,
      closed_at: expect.any(String),
      credits: 0,
      keys: 0,
    });
    await expect.poll(async () => (await fetch(image)).status).toBe(404);
    expect(JSON.stringify(await run("audit", "list"))).not.toContain("fay@example.com");
    await run("account", "create", "--email", "fay@example.com");
    expect((await run("ledger", "verify")).findings).toEqual([]);
  });

  it("audit list shows operator, command and outcome, without secrets", async () => {
    const { account } = await customer("gus@example.com");
    const url = "https://user:secret@receiver.example.com/hook?token=secret";
    await refusal("webhook", "create", "--account", account, "--url", url);
    await refusal("key", "revoke", "--key", "key_0");
    await run("account", "list");
    const { actions, next } = (await run("audit", "list", "--limit", "3")) as {
      actions: { id: number; operator: string }[];
      next: number;
    };
    const operator = `${userInfo().username}@${hostname()}`;
    expect(actions).toEqual([
      {
        id: expect.any(Number),
        at: expect.any(String),
        operator,
        command: "key revoke",
        arguments: { key: "key_0" },
        outcome: "not_found",
      },
      expect.objectContaining({
        command: "webhook create",
        arguments: { account, url: "https://receiver.example.com/hook" },
      }),
      expect.objectContaining({
        command: "account create",
        arguments: { email: "gus@example.com", credits: "20", key: "true" },
        outcome: "done",
      }),
    ]);
    expect(next).toBe(actions[2]?.id);
    expect((await run("audit", "list", "--before", String(next), "--limit", "1")).next).toBeLessThan(next);
    expect((await refusal("audit", "list", "--before", "x"))[0]).toBe("usage");
  });

  it("prints lines without --json", async () => {
    const printed = async (...args: string[]) =>
      (
        await promisify(execFile)(process.execPath, ["dist/bootstrap/panorama.cjs", ...args], {
          env: installation.environment,
        })
      ).stdout;
    expect(await printed("account", "list", "--limit", "1")).toMatch(
      /^acc_\S+ {2}\S+Z {2}open {2}20 credits {2}0 active tasks {2}gus@example.com\n/,
    );
    expect(await printed("audit", "list", "--limit", "1")).toMatch(
      / {2}key revoke --key "key_0"\nolder ones: add --before \d+\n$/,
    );
  });
});
