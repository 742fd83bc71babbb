import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import sharp from "sharp";
import { expect, it, onTestFinished } from "vitest";
import { FakeComfyui } from "../support/fake-comfyui.js";
import { FAL_KEY, FakeFal } from "../support/fake-fal.js";
import type { FakeProvider, UpstreamTask } from "../support/fake-provider.js";
import { FakeReplicate, REPLICATE_KEY } from "../support/fake-replicate.js";
import { McpSession } from "../support/mcp-session.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient, type Task } from "../support/rest-client.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { type Installation, PANORAMA } from "../support/service-process.js";
import { plain, seamless } from "../support/test-images.js";

const CHANGE = "the same at night";
/** Nothing listens there: whoever fetches it gets nothing. */
const HTTPS_ASSETS = "https://localhost:9/assets";
const PANORAMA_SIZE = { widthPixels: 1024, heightPixels: 512 };

type Started = { readonly environment: Record<string, string>; readonly fake?: FakeProvider };
type Provider = { readonly name: string; start(): Promise<Started> };

const PROVIDERS: readonly Provider[] = [
  { name: "local", start: async () => ({ environment: { PROVIDER: "local", LOCAL_PROVIDER_DELAY_MS: "0" } }) },
  {
    name: "fal",
    start: async () => {
      const fake = await FakeFal.start();
      const urls = { FAL_BASE_URL: fake.baseUrl, FAL_PLATFORM_URL: fake.platformUrl, FAL_JWKS_URL: fake.jwksUrl };
      return { fake, environment: { PROVIDER: "fal:seedream-4.5", FAL_API_KEY: FAL_KEY, ...urls } };
    },
  },
  {
    name: "replicate",
    start: async () => {
      const fake = await FakeReplicate.start();
      const access = { REPLICATE_API_KEY: REPLICATE_KEY, REPLICATE_BASE_URL: fake.baseUrl };
      return { fake, environment: { PROVIDER: "replicate:bytedance/seedream-4", ...access } };
    },
  },
  {
    name: "comfyui",
    start: async () => {
      const fake = await FakeComfyui.start();
      return { fake, environment: { PROVIDER: "comfyui:qwen-image-edit", COMFYUI_BASE_URL: fake.baseUrl } };
    },
  },
];

type Running = {
  readonly installation: Installation;
  readonly client: RestClient;
  readonly key: string;
  readonly cookie: string;
  readonly photo: Buffer;
};
type Source = { readonly id: string; readonly url: string; readonly slug: string };

const SURFACES = {
  REST: async ({ client }: Running, { url }: Source) => {
    await client.create({ prompt: CHANGE, image_urls: [url], resolution: "1k" });
  },
  MCP: async ({ installation, key }: Running, { url }: Source) => {
    const folder = await scratchFolder();
    const session = await McpSession.over(
      new StdioClientTransport({
        command: process.execPath,
        args: [PANORAMA, "mcp"],
        env: { PANORAMA_API_KEY: key, PANORAMA_BASE_URL: installation.url, PANORAMA_STATE_DIR: folder },
        stderr: "pipe",
      }),
    );
    const creation = { prompt: CHANGE, image_urls: [url], resolution: "1k" };
    expect((await session.call("generate_panorama_from_images", creation)).isError ?? false).toBe(false);
    await session.client.close();
  },
  "the terminal": (running: Running, { id, url }: Source) => inTerminal(running, url.startsWith("https") ? id : url),
  "the web form": async ({ installation, cookie }: Running, { slug, url }: Source) => {
    const headers = { origin: installation.url, cookie };
    const page = await (await fetch(`${installation.url}/works?change=${slug}`, { headers })).text();
    const value = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? "";
    expect(value("uploaded_url")).toBe(url);
    const form = new FormData();
    for (const name of ["form_token", "idempotency_key", "change", "uploaded_url"]) form.append(name, value(name));
    for (const [name, given] of Object.entries({ prompt: CHANGE, resolution: "1k", visibility: "private" })) {
      form.append(name, given);
    }
    const init = { method: "POST", redirect: "manual", headers, body: form } as const;
    expect((await fetch(`${installation.url}/works`, init)).status).toBe(303);
  },
  "REST, beside a photo": async ({ client, photo }: Running, { url }: Source) => {
    const [uploaded = ""] = await client.upload([new Blob([new Uint8Array(photo)], { type: "image/png" })]);
    await client.create({ prompt: CHANGE, image_urls: [uploaded, url], resolution: "1k" });
  },
};

/** It ends when the image is in a file. Where nothing serves the assets it fails then, after its creation. */
async function inTerminal({ installation, key }: Running, image: string): Promise<void> {
  const out = join(await scratchFolder(), "changed.jpg");
  const args = [PANORAMA, "generate", CHANGE, "--image", image, "--out", out, "--json"];
  const child = spawn(process.execPath, args, {
    env: { ...installation.environment, PANORAMA_API_KEY: key, PANORAMA_BASE_URL: installation.url },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [printed, , [status]] = await Promise.all([text(child.stderr), text(child.stdout), once(child, "close")]);
  if (installation.environment.ASSET_URL === undefined) expect([status, printed]).toEqual([0, ""]);
  else expect([status, printed]).toEqual([1, expect.stringContaining("its image could not be saved")]);
}

async function started(environment: Record<string, string>): Promise<Running> {
  const installation = await migratedInstallation({ PROVIDER_POLL_MS: "100", ...environment });
  onTestFinished(() => installation.remove());
  const { demo_api_key: key = "", demo_email = "", demo_password = "" } = await installation.start();
  const login = await fetch(`${installation.url}/login`, {
    ...{ method: "POST", redirect: "manual", headers: { origin: installation.url } },
    body: new URLSearchParams({ email: demo_email, password: demo_password }),
  });
  const cookie = login.headers.getSetCookie().map((one) => one.split(";")[0]);
  const photo = await plain({ widthPixels: 600, heightPixels: 400 }, "#10d030").png().toBuffer();
  const client = new RestClient(installation.url, key);
  return { installation, client, key, cookie: cookie.join("; "), photo };
}

/** The newest panorama of the account, when its image is stored. */
async function newest({ client }: Running): Promise<Task> {
  const { data } = (await (await client.request("/panoramas?limit=1")).json()) as { data: [Task] };
  const task = await client.untilKept(data[0].id);
  expect(task).toMatchObject({ status: "succeeded", output: { storage_status: "saved" } });
  return task;
}

/** What is sent for a file: its bytes, or its name at a server that takes uploads under the hash of their bytes. */
function sentFor(fake: FakeProvider, bytes: Buffer, type: string): string {
  if (!(fake instanceof FakeComfyui)) return `data:image/${type};base64,${bytes.toString("base64")}`;
  return `panorama/${createHash("sha256").update(bytes).digest("hex")}.${type}`;
}

const fileOf = ({ installation }: Running, task: Task): Promise<Buffer> =>
  readFile(
    join(installation.dataDir, "objects", new URL(task.output?.image_url ?? "").pathname.slice("/assets/".length)),
  );

const brightnessOf = async (picture: Buffer): Promise<number> => {
  const { channels } = await sharp(picture).greyscale().stats();
  return channels[0]?.mean ?? Number.NaN;
};

it.each(
  PROVIDERS.flatMap((provider) =>
    [
      ["http", {}],
      ["https", { ASSET_URL: HTTPS_ASSETS }],
    ].map(([scheme, assets]) => ({ provider, name: provider.name, scheme: String(scheme), assets: assets as object })),
  ),
)("$name gets a panorama to be changed whole, from every surface, with $scheme assets", async (row) => {
  const { environment, fake } = await row.provider.start();
  if (fake !== undefined) onTestFinished(() => fake.close());
  if (fake !== undefined) fake.picture = await seamless(PANORAMA_SIZE).jpeg().toBuffer();
  const running = await started({ ...environment, ...row.assets });
  await running.client.create({ prompt: "a lake in summer", resolution: "1k" });
  const made = await newest(running);
  const { image_url: url = "", slug = "" } = made.output ?? {};
  expect(url.slice(0, url.indexOf(":"))).toBe(row.scheme);
  const file = await fileOf(running, made);

  for (const [surface, create] of Object.entries(SURFACES)) {
    await create(running, { id: made.id, url, slug });
    const changed = await newest(running);
    expect([surface, changed.prompt, changed.image_urls.at(-1)]).toEqual([surface, CHANGE, url]);
    if (fake === undefined) {
      const picture = await fileOf(running, changed);
      expect(await sharp(picture).metadata()).toMatchObject({ width: 1024, height: 512 });
      if (changed.image_urls.length === 1) {
        expect((await brightnessOf(picture)) / (await brightnessOf(file))).toBeLessThan(0.8);
      }
      continue;
    }
    const sent = fake.tasks.at(-1) as UpstreamTask;
    const photos = changed.image_urls.length === 1 ? [] : [sentFor(fake, running.photo, "png")];
    const references = fake.referencesOf(sent);
    expect([surface, references]).toEqual([surface, [...photos, sentFor(fake, file, "jpeg")]]);
    expect(fake.promptOf(sent)).toContain(CHANGE);
  }
  if (fake === undefined) return;
  expect(await sharp(file).metadata()).toMatchObject({ width: 1024, height: 512 });
  // Only the header that says who asks has the address of the service.
  const everything = JSON.stringify(fake.server.requests, (name, value) => (name === "user-agent" ? "" : value));
  for (const ours of [running.installation.url, HTTPS_ASSETS, "/assets/"]) expect(everything).not.toContain(ours);
});
