import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";

describe("the commands for support while the service runs", () => {
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
  const customer = async (email: string) => {
    const opened = await run("account", "create", "--email", email, "--credits", "20", "--key");
    const key = String(opened.api_key);
    return { account: String(opened.account_id), key, client: new RestClient(installation.url, key) };
  };

  it("task show names who deleted a panorama, and task list filters", async () => {
    const ann = await customer("ann@example.com");
    const { id } = await ann.client.create({ prompt: "a foggy ocean test:plain", resolution: "1k" });
    await ann.client.untilKept(id);
    const failed = await ann.client.create({ prompt: "test:fail", resolution: "1k" });
    await expect.poll(async () => (await run("task", "show", "--task", failed.id)).state).toBe("failed");
    const deleted = await fetch(`${installation.url}/api/v1/panoramas/${id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${ann.key}` },
    });
    expect(deleted.status).toBe(204);
    const story = await run("task", "show", "--task", id);
    expect(story.stages).toMatchObject(
      ["created", "submitted", "generated", "succeeded", "saved", "deleted"].map((stage) => ({ stage })),
    );
    const [{ key_id: keyId }] = (await run("key", "list", "--account", ann.account)).keys as [{ key_id: string }];
    expect(story.deleted_by).toBe(`key ${keyId}`);
    expect(await run("task", "show", "--task", failed.id)).toMatchObject({
      reason: "generation_failed",
      detail: expect.any(String),
      upstream_task_id: expect.any(String),
      ledger: [{ kind: "reservation" }, { kind: "refund" }],
    });
    const filtered = await run("task", "list", "--account", ann.account, "--state", "failed", "--key", keyId);
    expect(filtered.tasks).toMatchObject([{ task_id: failed.id }]);
    expect((await installation.answer("task", "list", "--account", ann.account, "--state", "no")).status).toBe(2);
  });

  it("key limits and key revoke take a leaked key from standard input, and key revoke --account ends all", async () => {
    const bob = await customer("bob@example.com");
    const given = async (input: string, ...args: string[]) => {
      const { status, json, error, stderr } = await installation.commandWithInput(input, ...args, "--secret-stdin");
      expect(stderr).not.toContain(input.trim());
      return status === 0 ? json : [error?.code, error?.message];
    };
    const statusWith = async (key: string) =>
      (await fetch(`${installation.url}/api/v1/credits`, { headers: { "x-api-key": key } })).status;
    expect(await statusWith(bob.key)).toBe(200);
    const limited = await given(`${bob.key}\n`, "key", "limits", "--credits-per-day", "9");
    expect(limited).toMatchObject({ account_id: bob.account, credits_per_day: 9, scopes: ["read", "create"] });
    const { key_id: id } = limited as { key_id: string };
    await expect
      .poll(() => installation.log)
      .toContain(`"accountId":"${bob.account}","keyId":"${id}","network":"127.0.0.1"`);
    expect(installation.log).not.toContain(bob.key);

    const unknown = `sk-${"x".repeat(43)}`;
    expect(await given(unknown, "key", "revoke")).toEqual(["not_found", "No account has this key."]);
    expect(await given(unknown, "key", "limits")).toEqual(["not_found", "No account has this key."]);
    const notAKey = ["usage", "What was read is not an API key, which is sk- and 43 characters."];
    expect(await given(bob.key.slice(0, 11), "key", "revoke")).toEqual(notAKey);
    expect(await given(bob.key, "key", "limits", "--key", id)).toEqual([
      "usage",
      "Give either --key ID or --secret-stdin.",
    ]);
    const oneOf = ["usage", "Give either --key ID, --secret-stdin, or --account ID for all keys of the account."];
    expect(await given(bob.key, "key", "revoke", "--account", bob.account)).toEqual(oneOf);
    expect(await given(bob.key, "key", "revoke", "--key", id)).toEqual(oneOf);

    expect(await statusWith(bob.key)).toBe(200);
    const revoked = { key_id: id, account_id: bob.account, status: "revoked" };
    expect(await given(bob.key, "key", "revoke")).toEqual(revoked);
    expect(await statusWith(bob.key)).toBe(401);
    expect(await given(bob.key, "key", "revoke")).toEqual(revoked);
    const keys = [1, 2].map(() => run("key", "create", "--account", bob.account));
    const secrets = (await Promise.all(keys)).map(({ api_key }) => String(api_key));
    expect(await run("key", "revoke", "--account", bob.account)).toEqual({ account_id: bob.account, revoked: 2 });
    for (const secret of secrets) expect(await statusWith(secret)).toBe(401);
    expect(JSON.stringify(await run("audit", "list"))).not.toContain(bob.key);
  });
});
