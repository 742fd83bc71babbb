import sharp from "sharp";
import { afterEach, describe, expect, it } from "vitest";
import { FAL_KEY, FakeFal } from "../support/fake-fal.js";
import { type FakeProvider, sendWebhook } from "../support/fake-provider.js";
import { FakeReplicate, REPLICATE_KEY } from "../support/fake-replicate.js";
import { FakeSkybox, SKYBOX_KEY } from "../support/fake-skybox.js";
import { refuses } from "../support/faulty-server.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient } from "../support/rest-client.js";
import { plain, seamless } from "../support/test-images.js";

const PROMPT = "a lake that no log may mention";

/** Each with the size of the images that it generates. */
const PROVIDERS = [
  ["skybox", "skybox", FakeSkybox, SKYBOX_KEY, { widthPixels: 4096, heightPixels: 2048 }],
  [
    "replicate",
    "replicate:bytedance/seedream-4",
    FakeReplicate,
    REPLICATE_KEY,
    { widthPixels: 2048, heightPixels: 1024 },
  ],
  ["fal", "fal:hunyuan-world", FakeFal, FAL_KEY, { widthPixels: 1920, heightPixels: 960 }],
] as const;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

describe.each(PROVIDERS)("the service with PROVIDER=%s", (name, place, Fake, key, size) => {
  it("makes panoramas of the exact size, and writes neither the key nor the prompt to the log", async () => {
    const fake: FakeProvider & { readonly baseUrl: string } = await Fake.start<InstanceType<typeof Fake>>();
    fake.picture = await seamless(size).jpeg().toBuffer();
    const prefix = name.toUpperCase();
    const installation = await migratedInstallation({
      PROVIDER: name,
      [`${prefix}_API_KEY`]: key,
      [`${prefix}_BASE_URL`]: fake.baseUrl,
      // Too long to wait for: the task can only end in time through the provider's webhook.
      PROVIDER_POLL_MS: "3600000",
      PUBLIC_URL: "https://panoramas.example",
      FAL_MODEL: "fal-ai/hunyuan_world",
      FAL_PLATFORM_URL: `${fake.server.url}/v1`,
      FAL_JWKS_URL: `${fake.server.url}/.well-known/jwks.json`,
      LOG_LEVEL: "trace",
    });
    ends.push(
      () => fake.close(),
      () => installation.remove(),
    );
    const { demo_api_key = "" } = await installation.start({ ASSET_URL: `${installation.url}/assets` });
    const client = new RestClient(installation.url, demo_api_key);
    const photo = await plain({ widthPixels: 30, heightPixels: 20 }).png().toBuffer();
    const [reference = ""] = await client.upload([new Blob([new Uint8Array(photo)], { type: "image/png" })]);

    const { id } = await client.create({ prompt: PROMPT, image_urls: [reference], resolution: "2k" });
    const webhook = fake.webhook(fake.tasks[0]!, new Date());
    expect((await sendWebhook(webhook, installation.url)).status).toBe(200);
    const { output } = await client.untilKept(id);

    expect(output?.storage_status).toBe("saved");
    const kept = await fetch(output?.image_url ?? "");
    expect(await sharp(await kept.arrayBuffer()).metadata()).toMatchObject({ width: 2048, height: 1024 });
    expect(fake.tasks).toHaveLength(1);
    expect(JSON.stringify(fake.tasks[0]?.input)).not.toContain(reference);
    expect((await fetch(`${installation.url}/generations/x.jpg`)).status).toBe(404);
    const check = { name: `provider ${place}`, ok: true, detail: "The provider answers." };
    expect(await (await fetch(`${installation.url}/readyz`)).json()).toMatchObject({
      checks: [{ ok: true }, { ok: true }, check],
    });
    expect(await installation.end("SIGTERM")).toBe(0);
    expect(installation.log).not.toContain(key);
    expect(installation.log).not.toContain(PROMPT);
    expect(installation.log).not.toContain("proof");
  });
});

describe("the service with PROVIDER=skybox,fal", () => {
  const bothFakes = async () => {
    const [skybox, fal] = [await FakeSkybox.start(), await FakeFal.start()];
    ends.push(
      () => skybox.close(),
      () => fal.close(),
    );
    const environment = {
      PROVIDER: "skybox,fal",
      SKYBOX_API_KEY: SKYBOX_KEY,
      SKYBOX_BASE_URL: skybox.baseUrl,
      FAL_API_KEY: FAL_KEY,
      FAL_BASE_URL: fal.baseUrl,
      FAL_PLATFORM_URL: fal.platformUrl,
      FAL_MODEL: "fal-ai/hunyuan_world",
      PROVIDER_POLL_MS: "100",
    };
    return { skybox, fal, environment };
  };

  it("submits a task to fal that Skybox AI rejects, and logs it", async () => {
    const { skybox, fal, environment } = await bothFakes();
    skybox.faults.creates.push(refuses(402));
    fal.picture = await seamless({ widthPixels: 1920, heightPixels: 960 }).jpeg().toBuffer();
    const installation = await migratedInstallation(environment);
    ends.push(() => installation.remove());
    const { demo_api_key = "" } = await installation.start();
    const client = new RestClient(installation.url, demo_api_key);

    const image_urls = ["https://pictures.example/p.jpg"];
    const { id } = await client.create({ prompt: PROMPT, image_urls, resolution: "1k" });
    const { output } = await client.untilKept(id);

    expect(output?.storage_status).toBe("saved");
    expect([skybox.tasks.length, fal.tasks.length]).toEqual([0, 1]);
    expect(await installation.end("SIGTERM")).toBe(0);
    expect(installation.log).toContain(
      "fal:hunyuan-world is asked instead (skybox: status 402: no credit or quota is left with the provider).",
    );
    expect(installation.log).toContain('"fal:/fal-ai/hunyuan_world/requests/');
  });
});
