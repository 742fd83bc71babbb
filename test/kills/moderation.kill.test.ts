import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeModeration } from "../support/fake-moderation.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";

describe("a service that is killed while the moderation judges a result", () => {
  let moderation: Awaited<ReturnType<typeof fakeModeration>>;
  let installation: Installation;

  beforeAll(async () => {
    moderation = await fakeModeration();
    installation = await migratedInstallation({
      DEMO: "false",
      LEASE_MS: "1000",
      LOCAL_PROVIDER_DELAY_MS: "100",
      MODERATION: "http",
      MODERATION_URL: moderation.url,
      MODERATION_API_KEY: "key",
      MODERATION_TIMEOUT_MS: "20000",
    });
  });
  afterAll(async () => {
    await installation.remove();
    await moderation.close();
  });

  it("asks again after the next start, shows nothing that is blocked, and refunds it once", async () => {
    const opened = await installation.answer(
      "account",
      "create",
      "--email",
      "a@example.com",
      "--credits",
      "20",
      "--key",
    );
    const client = new RestClient(installation.url, String(opened.json.api_key));
    await installation.start();
    const refused = await client.request("/panoramas", {
      method: "POST",
      body: JSON.stringify({ prompt: "a blocked lake", resolution: "1k" }),
    });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: "invalid_request", param: "prompt" } });
    expect(await client.credits()).toBe(20);

    const { id } = await client.create({ prompt: "a quiet lake test:plain", resolution: "1k", visibility: "public" });
    const judged = new Promise<void>((resolve) => {
      moderation.state.behaviour = () => resolve(); // never answers
    });
    await judged;
    expect(await installation.end("SIGKILL")).toBe("SIGKILL");

    moderation.state.behaviour = undefined;
    moderation.state.images = "block";
    await installation.start();
    const ended = await client.untilKept(id);
    expect(ended).toMatchObject({ status: "failed", error: { reason: "content_refused" } });
    expect(ended.output).toBeUndefined();
    expect(await client.credits()).toBe(20);
    expect(installation.log).not.toContain("quiet lake");
    expect(await installation.answer("ledger", "verify")).toMatchObject({ status: 0 });
  });
});
