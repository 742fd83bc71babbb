import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import type { Installation } from "../support/service-process.js";

const REASON = "Shows a private person";

describe("the commands about tasks, leaked keys, webhooks and takedown while the service runs", () => {
  let installation: Installation;
  const run = (...args: string[]) => installation.run(...args);
  const refusal = (...args: string[]) => installation.refusal(...args);

  beforeAll(async () => {
    installation = await migratedInstallation({ DEMO: "false", LOCAL_PROVIDER_DELAY_MS: "0" });
    await installation.start();
  });
  afterAll(() => installation.remove());

  it("task list, show, cancel and retry work on tasks of any account", async () => {
    const { account, client } = await installation.customer("dot@example.com");
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
    expect(await run("task", "cancel", "--task", slow)).toEqual({ task_id: slow, status: "canceled" });
    const canceled = { state: "failed", reason: "canceled", made_by: "local", seam_ratio: null };
    expect(await run("task", "show", "--task", slow)).toMatchObject(canceled);
    expect(await client.credits()).toBe(16);
    expect(await refusal("task", "cancel", "--task", failedImage)).toEqual([
      "refused",
      `Task ${failedImage} has already succeeded.`,
    ]);
    const retried = { task_id: failedImage, storage_status: "uploading" };
    expect(await run("task", "retry", "--task", failedImage)).toEqual(retried);
    expect((await refusal("task", "retry", "--task", slow))[0]).toBe("not_found");
  });

  it("task show names who deleted a panorama, and task list filters", async () => {
    const { account, client } = await installation.customer("ann@example.com");
    const { id } = await client.create({ prompt: "a foggy ocean test:plain", resolution: "1k" });
    await client.untilKept(id);
    const failed = await client.create({ prompt: "test:fail", resolution: "1k" });
    await expect.poll(async () => (await run("task", "show", "--task", failed.id)).state).toBe("failed");
    expect((await client.request(`/panoramas/${id}`, { method: "DELETE" })).status).toBe(204);
    const story = await run("task", "show", "--task", id);
    expect(story.stages).toMatchObject(
      ["created", "submitted", "generated", "succeeded", "saved", "deleted"].map((stage) => ({ stage })),
    );
    const [{ key_id: keyId }] = (await run("key", "list", "--account", account)).keys as [{ key_id: string }];
    expect(story.deleted_by).toBe(`key ${keyId}`);
    expect(await run("task", "show", "--task", failed.id)).toMatchObject({
      reason: "generation_failed",
      detail: expect.any(String),
      upstream_task_id: expect.any(String),
      ledger: [{ kind: "reservation" }, { kind: "refund" }],
    });
    const filtered = await run("task", "list", "--account", account, "--state", "failed", "--key", keyId);
    expect(filtered.tasks).toMatchObject([{ task_id: failed.id }]);
    expect((await refusal("task", "list", "--account", account, "--state", "no"))[0]).toBe("usage");
  });

  it("key limits and key revoke take a leaked key from standard input, and key revoke --account ends all", async () => {
    const bob = await installation.customer("bob@example.com");
    const given = async (input: string, ...args: string[]) => {
      const { status, json, error, stderr } = await installation.commandWithInput(input, ...args, "--secret-stdin");
      expect(stderr).not.toContain(input.trim());
      return status === 0 ? json : [error?.code, error?.message];
    };
    await bob.client.credits();
    const limited = await given(`${bob.key}\n`, "key", "limits", "--credits-per-day", "9");
    expect(limited).toMatchObject({ account_id: bob.account, credits_per_day: 9, scopes: ["read", "create"] });
    const { key_id: id } = limited as { key_id: string };
    await expect.poll(() => installation.log).toContain(`"accountId":"${bob.account}","keyId":"${id}"`);
    expect(installation.log).not.toContain(bob.key);

    const unknown = `sk-${"x".repeat(43)}`;
    expect(await given(unknown, "key", "revoke")).toEqual(["not_found", "No account has this key."]);
    const notAKey = ["usage", "What was read is not an API key, which is sk- and 43 characters."];
    expect(await given(bob.key.slice(0, 11), "key", "revoke")).toEqual(notAKey);
    expect(await given(bob.key, "key", "limits", "--key", id)).toEqual([
      "usage",
      "Give either --key ID or --secret-stdin.",
    ]);
    expect(await given(bob.key, "key", "revoke", "--account", bob.account)).toEqual([
      "usage",
      "Give either --key ID, --secret-stdin, or --account ID for all keys of the account.",
    ]);

    const revoked = { key_id: id, account_id: bob.account, status: "revoked" };
    expect(await given(bob.key, "key", "revoke")).toEqual(revoked);
    expect((await bob.client.request("/credits")).status).toBe(401);
    for (const _ of [1, 2]) await run("key", "create", "--account", bob.account);
    expect(await run("key", "revoke", "--account", bob.account)).toEqual({ account_id: bob.account, revoked: 2 });
    expect(JSON.stringify(await run("audit", "list"))).not.toContain(bob.key);
  });

  it("webhook commands manage the endpoints of an account", async () => {
    const { account } = await installation.customer("wim@example.com");
    const of = ["--account", account];
    const url = "https://receiver.example.com/hook";
    const plain = await refusal("webhook", "create", ...of, "--url", "http://receiver.example.com");
    expect(plain).toEqual(["usage", expect.stringContaining("--url must be")]);
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
    expect(await refusal("webhook", "resend", ...of, "--delivery", "7")).toEqual([
      "not_found",
      "There is no delivery 7 on this account.",
    ]);
    expect((await refusal("webhook", "resend", ...of, "--delivery", "x"))[0]).toBe("usage");
    await run("webhook", "delete", ...of, ...endpoint);
    expect((await refusal("webhook", "delete", ...of, ...endpoint))[0]).toBe("not_found");
  });

  it("gallery hide, gallery show and account suspend take down and bring back, with the reason", async () => {
    const { account, client } = await installation.customer("sue@example.com", 100);
    const creation = { prompt: "a quiet wood test:plain", resolution: "1k", visibility: "public" };
    const { id } = await client.create(creation);
    const slug = (await client.untilKept(id)).output?.slug ?? "";
    const viewer = async () => (await fetch(`${installation.url}/p/${slug}`)).status;
    const read = async () => (await client.request(`/panoramas/${id}`)).json();
    expect(await run("gallery", "hide", slug, "--reason", REASON)).toMatchObject({ hidden: true });
    expect([await viewer(), await read()]).toMatchObject([404, { visibility: "private", hidden_reason: REASON }]);
    expect(await run("gallery", "show", slug)).toMatchObject({ hidden: false });
    expect(await viewer()).toBe(200);
    expect((await refusal("gallery", "show", slug))[0]).toBe("not_found");

    await run("account", "suspend", "--account", account, "--reason", REASON);
    expect(await run("account", "show", "--account", account)).toMatchObject({ suspended_because: REASON });
    const message = `This account is suspended: ${REASON}. Ask the operator.`;
    expect(await read()).toEqual({ error: { code: "invalid_api_key", message } });
    const all = await run("gallery", "hide", "--account", account, "--reason", REASON);
    expect(all).toEqual({ account_id: account, hidden: 1 });
    await run("account", "resume", "--account", account);
    expect(await read()).toMatchObject({ hidden_reason: REASON });
  });
});
