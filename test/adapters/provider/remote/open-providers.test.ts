import { err, ok } from "neverthrow";
import { afterEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../adapters/contracts/support/builders.js";
import { comfyProvider } from "../../../../adapters/provider/remote/comfy/comfy-provider.js";
import { comfyuiProvider } from "../../../../adapters/provider/remote/comfyui/comfyui-provider.js";
import { falProvider } from "../../../../adapters/provider/remote/fal/fal-provider.js";
import { httpProvider } from "../../../../adapters/provider/remote/http/http-provider.js";
import type { OpenProvider, ProviderEvent } from "../../../../adapters/provider/remote/remote-options.js";
import { replicateProvider } from "../../../../adapters/provider/remote/replicate/replicate-provider.js";
import { skyboxProvider } from "../../../../adapters/provider/remote/skybox/skybox-provider.js";
import { worldlabsProvider } from "../../../../adapters/provider/remote/worldlabs/worldlabs-provider.js";
import { imageTypeOf } from "../../../../domain/images/image-type.js";
import { COMFY_KEY, FakeComfy } from "../../../support/fake-comfy.js";
import { FakeComfyui } from "../../../support/fake-comfyui.js";
import { FAL_KEY, FakeFal } from "../../../support/fake-fal.js";
import { FakeHttpProvider, HTTP_TOKEN } from "../../../support/fake-http-provider.js";
import type { FakeProvider } from "../../../support/fake-provider.js";
import { FakeReplicate, REPLICATE_KEY } from "../../../support/fake-replicate.js";
import { FakeSkybox, SKYBOX_KEY } from "../../../support/fake-skybox.js";
import { FakeWorldlabs, WORLDLABS_KEY } from "../../../support/fake-worldlabs.js";
import { COMFYUI_WORKFLOW } from "../../../support/providers-under-test.js";
import { arrived } from "../../../support/webhooks-under-test.js";

type Opened = { readonly provider: OpenProvider; readonly fake: FakeProvider };
type Shared = Pick<Parameters<typeof httpProvider>[0], "onEvent" | "publicUrl" | "storage" | "userAgent">;

/** Each with the options that it needs, over HTTP to its provider's fake. */
const PROVIDERS: Readonly<Record<string, (shared?: Shared) => Promise<Opened>>> = {
  skybox: async (shared) => {
    const fake = await FakeSkybox.start();
    return { fake, provider: skyboxProvider({ apiKey: SKYBOX_KEY, baseUrl: fake.baseUrl, ...shared }) };
  },
  replicate: async (shared) => {
    const fake = await FakeReplicate.start();
    return { fake, provider: replicateProvider({ apiKey: REPLICATE_KEY, baseUrl: `${fake.baseUrl}/`, ...shared }) };
  },
  fal: async (shared) => {
    const fake = await FakeFal.start();
    const { baseUrl, platformUrl, jwksUrl } = fake;
    const urls = { baseUrl, platformUrl, jwksUrls: [jwksUrl] };
    return { fake, provider: falProvider({ apiKey: FAL_KEY, ...urls, ...shared }) };
  },
  worldlabs: async (shared) => {
    const fake = await FakeWorldlabs.start();
    return { fake, provider: worldlabsProvider({ apiKey: WORLDLABS_KEY, baseUrl: `${fake.baseUrl}/`, ...shared }) };
  },
  "comfy:qwen-image-edit": async (shared) => {
    const fake = await FakeComfy.start();
    return { fake, provider: comfyProvider({ apiKey: COMFY_KEY, baseUrl: fake.baseUrl, ...shared }) };
  },
  comfyui: async (shared) => {
    const fake = await FakeComfyui.start();
    return { fake, provider: comfyuiProvider({ baseUrls: [fake.baseUrl], ...shared }) };
  },
  http: async (shared) => {
    const fake = await FakeHttpProvider.start();
    return { fake, provider: httpProvider({ baseUrl: fake.baseUrl, token: HTTP_TOKEN, ...shared }) };
  },
};

const AN_ORDER = { taskId: taskId(1), request: aCreationRequest({ prompt: "a lake" }) };

let close = async () => {};
afterEach(() => close());

const opened = async (open: (shared?: Shared) => Promise<Opened>, shared?: Shared): Promise<Opened> => {
  const { provider, fake } = await open(shared);
  close = async () => {
    await provider.close();
    await fake.close();
  };
  return { provider, fake };
};

describe.each(Object.entries(PROVIDERS))("%s, opened with the fewest options", (name, open) => {
  it("passes its check, makes a panorama, and downloads it", async () => {
    const { provider } = await opened(open);
    // Of a provider with several models the name has the model, too.
    expect(provider.name.split(":")[0]).toBe(name.split(":")[0]);
    expect(await provider.check()).toEqual(ok(undefined));
    const id = (await provider.submit(AN_ORDER))._unsafeUnwrap();
    const progress = (await provider.poll(id))._unsafeUnwrap();
    if (progress.state !== "succeeded") throw new Error(`The generation is ${JSON.stringify(progress)}.`);
    const { bytes } = (await provider.download(progress.temporaryUrl, id))._unsafeUnwrap();
    expect(imageTypeOf(bytes)).toBe("image/jpeg");
  });

  it("sends the User-Agent in every request", async () => {
    const userAgent = "panorama-service/3.0.0 (+https://panoramas.example)";
    const { provider, fake } = await opened(open, { userAgent });
    await provider.check();
    const id = (await provider.submit(AN_ORDER))._unsafeUnwrap();
    const progress = (await provider.poll(id))._unsafeUnwrap();
    if (progress.state === "succeeded") await provider.download(progress.temporaryUrl, id);
    const said = new Set(fake.server.requests.map(({ headers }) => headers["user-agent"]));
    expect(said).toEqual(new Set([userAgent]));
    expect(fake.server.requests.length).toBeGreaterThan(2);
  });

  it("reports that its circuit is closed, once", async () => {
    const events: ProviderEvent[] = [];
    await opened(open, { onEvent: (event) => events.push(event) });
    expect(events).toEqual([{ kind: "circuit", provider: expect.stringContaining(name), state: "closed" }]);
  });

  it("reports that its circuit is open after five creations without an answer", async () => {
    const events: ProviderEvent[] = [];
    const { provider, fake } = await opened(open, { onEvent: (event) => events.push(event) });
    expect(await provider.check()).toEqual(ok(undefined));
    await fake.server.close();
    for (let n = 1; n <= 5; n += 1) await provider.submit({ ...AN_ORDER, taskId: taskId(n) });
    expect(events.at(-1)).toEqual({ kind: "circuit", provider: expect.stringContaining(name), state: "open" });
    expect(provider.readiness()).toBe("down");
  });
});

describe.each(["replicate", "fal"] as const)("%s, opened with a public URL", (name) => {
  it("verifies the webhooks for it", async () => {
    const { provider, fake } = await opened(PROVIDERS[name]!, { publicUrl: "https://panoramas.example" });
    await provider.submit(AN_ORDER);
    const [task] = fake.tasks;
    if (task === undefined) throw new Error("Nothing was started.");
    const webhook = arrived(fake.webhook(task, new Date()));
    expect(await provider.webhooks?.taskOf(webhook)).toEqual(ok(AN_ORDER.taskId));
    const forged = { ...webhook, body: Buffer.from("{}") };
    expect((await provider.webhooks?.taskOf(forged))?._unsafeUnwrapErr().kind).toBe("unverified_webhook");
  });
});

it("comfyuiProvider checks every server, and names the one that did not answer", async () => {
  const [first, second] = [await FakeComfyui.start(), await FakeComfyui.start()];
  const provider = comfyuiProvider({
    baseUrls: [first.baseUrl, second.baseUrl],
    workflow: COMFYUI_WORKFLOW,
  });
  close = async () => {
    await Promise.all([provider.close(), first.close()]);
  };
  const { host, pathname } = new URL(second.baseUrl);
  await second.close();
  expect(await provider.check()).toEqual(err({ kind: "unchecked", reason: `${host}${pathname}: ECONNREFUSED` }));
  first.classes = {};
  const wrong = (await provider.check())._unsafeUnwrapErr();
  expect(wrong).toEqual({ kind: "misconfigured", reason: expect.stringContaining(first.baseUrl) });
});

it.each<[string, () => unknown, string]>([
  [
    "a base URL that is none",
    () => replicateProvider({ apiKey: "key", baseUrl: "api.replicate.com" }),
    'baseUrl must be an http or https URL, and is "api.replicate.com".',
  ],
  [
    "an API key that no header can carry, without showing it",
    () => skyboxProvider({ apiKey: "secret\nkey" }),
    "apiKey must be visible ASCII characters without spaces.",
  ],
  [
    "a model of fal that is none",
    () => falProvider({ apiKey: "key", model: "seedream" }),
    "FAL_MODEL=seedream: must be seedream-4.5, gpt-image-2, gpt-image-2.5, flux-2, flux-3, hunyuan-world, flux-lora " +
      "or the id of an endpoint.",
  ],
  [
    "a workflow that is none",
    () => comfyuiProvider({ baseUrls: ["http://localhost:8188"], workflow: [] }),
    "workflow: not a workflow in API format; export it with File, Export (API).",
  ],
  [
    "Comfy Cloud without an API key",
    () => comfyProvider({ workflow: "qwen-image-edit" }),
    "apiKey is required for https://cloud.comfy.org.",
  ],
])("opening a provider throws for %s", (_, open, message) => {
  expect(open).toThrow(new TypeError(message));
});
