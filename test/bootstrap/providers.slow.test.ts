import sharp from "sharp";
import { expect, it, onTestFinished } from "vitest";
import { FAL_KEY, FakeFal } from "../support/fake-fal.js";
import { sendWebhook } from "../support/fake-provider.js";
import { FakeSkybox, SKYBOX_KEY } from "../support/fake-skybox.js";
import { refuses } from "../support/faulty-server.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient } from "../support/rest-client.js";
import { plain, seamless } from "../support/test-images.js";

const PROMPT = "a lake that no log may mention";

it("the service submits to fal what Skybox rejects, keeps the exact size after fal's webhook, and logs no secret", async () => {
  const [skybox, fal] = [await FakeSkybox.start(), await FakeFal.start()];
  skybox.faults.creates.push(refuses(402));
  fal.picture = await seamless({ widthPixels: 1920, heightPixels: 960 }).jpeg().toBuffer();
  const installation = await migratedInstallation({
    PROVIDER: "skybox,fal",
    SKYBOX_API_KEY: SKYBOX_KEY,
    SKYBOX_BASE_URL: skybox.baseUrl,
    FAL_API_KEY: FAL_KEY,
    FAL_BASE_URL: fal.baseUrl,
    FAL_PLATFORM_URL: fal.platformUrl,
    FAL_JWKS_URL: fal.jwksUrl,
    FAL_MODEL: "fal-ai/hunyuan_world",
    // Too long to wait for: the task can only end in time through the provider's webhook.
    PROVIDER_POLL_MS: "3600000",
    PUBLIC_URL: "https://panoramas.example",
    LOG_LEVEL: "trace",
  });
  onTestFinished(async () => {
    await installation.remove();
    await Promise.all([skybox.close(), fal.close()]);
  });
  const { demo_api_key = "" } = await installation.start({ ASSET_URL: `${installation.url}/assets` });
  const client = new RestClient(installation.url, demo_api_key);
  const photo = await plain({ widthPixels: 30, heightPixels: 20 }).png().toBuffer();
  const [reference = ""] = await client.upload([new Blob([new Uint8Array(photo)], { type: "image/png" })]);

  const { id } = await client.create({ prompt: PROMPT, image_urls: [reference], resolution: "2k" });
  expect([skybox.tasks.length, fal.tasks.length]).toEqual([0, 1]);
  const [task] = fal.tasks;
  if (task === undefined) throw new Error("fal has no task.");
  expect(JSON.stringify(task.input)).not.toContain(reference);
  expect((await sendWebhook(fal.webhook(task, new Date()), installation.url)).status).toBe(200);
  const { output } = await client.untilKept(id);

  expect(output?.storage_status).toBe("saved");
  const kept = await fetch(output?.image_url ?? "");
  expect(await sharp(await kept.arrayBuffer()).metadata()).toMatchObject({ width: 2048, height: 1024 });
  expect((await fetch(`${installation.url}/generations/x.jpg`)).status).toBe(404);
  const { checks } = (await (await fetch(`${installation.url}/readyz`)).json()) as { checks: { ok: boolean }[] };
  const ready = ["skybox", "fal:hunyuan-world"].map((name) => ({ name: `provider ${name}`, ok: true }));
  expect(checks.slice(-2)).toMatchObject(ready);
  expect(await installation.end("SIGTERM")).toBe(0);
  const why = "skybox: status 402: no credit or quota is left with the provider";
  expect(installation.log).toContain(`fal:hunyuan-world is asked instead (${why}).`);
  expect(installation.log).toContain('"fal:/fal-ai/hunyuan_world/requests/');
  for (const secret of [SKYBOX_KEY, FAL_KEY, PROMPT, "proof"]) expect(installation.log).not.toContain(secret);
});
