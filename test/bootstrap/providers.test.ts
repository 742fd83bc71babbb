import sharp from "sharp";
import { afterEach, describe, expect, it } from "vitest";
import { FAL_KEY, FakeFal } from "../support/fake-fal.js";
import { FakeReplicate, REPLICATE_KEY } from "../support/fake-replicate.js";
import { FakeSkybox, SKYBOX_KEY } from "../support/fake-skybox.js";
import { RestClient } from "../support/rest-client.js";
import { Installation } from "../support/service-process.js";
import { plain } from "../support/test-images.js";

const PROMPT = "a lake nobody may read about";

/** Each in the size that it gives. */
const PROVIDERS = [
  ["skybox", FakeSkybox, SKYBOX_KEY, { widthPixels: 4096, heightPixels: 2048 }],
  ["replicate", FakeReplicate, REPLICATE_KEY, { widthPixels: 1440, heightPixels: 720 }],
  ["fal", FakeFal, FAL_KEY, { widthPixels: 1920, heightPixels: 960 }],
] as const;

describe.each(PROVIDERS)("the service with PROVIDER=%s", (name, Fake, key, size) => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it("makes panoramas of exactly their size there, and keeps its key and the prompt to itself", async () => {
    const fake = await Fake.start();
    fake.picture = await plain(size).jpeg().toBuffer();
    const prefix = name.toUpperCase();
    const installation = await Installation.create({
      PROVIDER: name,
      [`${prefix}_API_KEY`]: key,
      [`${prefix}_BASE_URL`]: fake.baseUrl,
      PROVIDER_POLL_MS: "100",
      LOG_LEVEL: "trace",
    });
    ends.push(
      () => fake.close(),
      () => installation.remove(),
    );
    const { demo_api_key = "" } = await installation.start();
    const client = new RestClient(installation.url, demo_api_key);
    const photo = await plain({ widthPixels: 30, heightPixels: 20 }).png().toBuffer();
    const [reference = ""] = await client.upload([new Blob([new Uint8Array(photo)], { type: "image/png" })]);

    const { id } = await client.create({ prompt: PROMPT, image_urls: [reference], resolution: "2k" });
    const { output } = await client.untilKept(id);

    expect(output?.storage_status).toBe("saved");
    const kept = await fetch(output?.image_url ?? "");
    expect(await sharp(await kept.arrayBuffer()).metadata()).toMatchObject({ width: 2048, height: 1024 });
    expect(fake.tasks).toHaveLength(1);
    expect(JSON.stringify(fake.tasks[0]?.input)).not.toContain(reference);
    expect((await fetch(`${installation.url}/generations/x.jpg`)).status).toBe(404);
    const check = { name: `provider ${name}`, ok: true, detail: "The provider answers." };
    expect(await (await fetch(`${installation.url}/readyz`)).json()).toMatchObject({ checks: [{ ok: true }, check] });
    expect(installation.log).not.toContain(key);
    expect(installation.log).not.toContain(PROMPT);
  });
});
