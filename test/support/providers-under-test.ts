import { HandClock } from "../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../adapters/memory/memory-object-storage.js";
import { ProviderChain } from "../../adapters/provider/provider-chain.js";
import { PublicFetch } from "../../adapters/provider/public-fetch.js";
import { UpstreamHttp } from "../../adapters/provider/remote/calls/upstream-http.js";
import { comfy } from "../../adapters/provider/remote/comfy/comfy-provider.js";
import { comfyui } from "../../adapters/provider/remote/comfyui/comfyui.js";
import { ComfyuiServers } from "../../adapters/provider/remote/comfyui/comfyui-provider.js";
import type { Dialect, Read } from "../../adapters/provider/remote/dialect.js";
import { type FalModelOptions, falChoice } from "../../adapters/provider/remote/fal/fal-choice.js";
import { fal } from "../../adapters/provider/remote/fal/fal-provider.js";
import { http as httpProvider } from "../../adapters/provider/remote/http/http-provider.js";
import { RemoteProvider } from "../../adapters/provider/remote/remote-provider.js";
import { replicate } from "../../adapters/provider/remote/replicate/replicate-provider.js";
import { skybox } from "../../adapters/provider/remote/skybox/skybox-provider.js";
import type { WebhookUrls } from "../../adapters/provider/remote/webhooks/webhook-urls.js";
import { namedWorkflow } from "../../adapters/provider/remote/workflows/bundled-workflows.js";
import { type WorldlabsModel, worldlabs } from "../../adapters/provider/remote/worldlabs/worldlabs-provider.js";
import { unavailable } from "../../adapters/provider/sound-reference.js";
import type { Clock } from "../../application/ports/clock.js";
import type { CircuitState, GenerationProvider } from "../../application/ports/generation-provider.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import { COMFY_KEY, FakeComfy } from "./fake-comfy.js";
import { FakeComfyui } from "./fake-comfyui.js";
import { FAL_KEY, FakeFal } from "./fake-fal.js";
import { FakeHttpProvider, HTTP_TOKEN } from "./fake-http-provider.js";
import type { FakeProvider } from "./fake-provider.js";
import { FakeReplicate, FLUX_360_VERSION, REPLICATE_KEY } from "./fake-replicate.js";
import { FakeSkybox, SKYBOX_KEY } from "./fake-skybox.js";
import { FakeWorldlabs, WORLDLABS_KEY } from "./fake-worldlabs.js";

export type Overrides = {
  readonly clock?: Clock;
  readonly storage?: ObjectStorage;
  readonly warn?: (message: string) => void;
  readonly submitTimeoutMilliseconds?: number;
  readonly apiKey?: string;
  readonly webhookUrls?: WebhookUrls;
  /** `undefined` selects the default of the dialect. */
  readonly callsPerSecond?: number | undefined;
  readonly concurrencyMax?: number;
  readonly onCircuitChange?: (state: CircuitState) => void;
};

export const REPLICATE_MODEL = `owner/flux-360:${FLUX_360_VERSION}`;

export const SUBMIT_TIMEOUT_MILLISECONDS = 5_000;
const SETTINGS = {
  submitTimeoutMilliseconds: SUBMIT_TIMEOUT_MILLISECONDS,
  generationDeadlineMilliseconds: 600_000,
  pollMilliseconds: undefined,
  // No limit, because in most tests the clock stands still.
  callsPerSecond: Number.POSITIVE_INFINITY,
  concurrencyMax: undefined,
};

/** The real adapters, each over HTTP to its provider's fake; `close` closes both. */
export const startSkybox = async (overrides: Overrides = {}) => {
  const fake = await FakeSkybox.start();
  const { apiKey = SKYBOX_KEY } = overrides;
  return startWith(fake, skybox({ apiKey, baseUrl: fake.baseUrl, styleId: 67 }), overrides);
};

/** Knows the version of the model already, as after the check at the start of the service. */
export const startReplicate = async (overrides: Overrides = {}) => {
  const remote = await startUncheckedReplicate(overrides);
  await remote.dialect.check?.(remote.read);
  remote.fake.server.requests.length = 0;
  return remote;
};

/** With an official model, which keeps three reference images and has no seed. */
export const startSeedream = async (overrides: Overrides = {}) => {
  const remote = await startUncheckedReplicate(overrides, "bytedance/seedream-4");
  await remote.dialect.check?.(remote.read);
  remote.fake.server.requests.length = 0;
  return remote;
};

export const startUncheckedReplicate = async (overrides: Overrides = {}, model = REPLICATE_MODEL) => {
  const fake = await FakeReplicate.start();
  const { apiKey = REPLICATE_KEY } = overrides;
  return startWith(fake, replicate({ apiKey, baseUrl: fake.baseUrl, model }), overrides);
};

/** With the model that makes panoramas from one image. */
export const startFalHunyuan = (overrides: Overrides = {}) => startFal(overrides, { model: "hunyuan-world" });

export const FAL_FLUX = { model: "flux-lora", loraUrl: "https://weights.example/360.safetensors" } as const;

/** With the model that makes panoramas from text. */
export const startFalFlux = (overrides: Overrides = {}) => startFal(overrides, FAL_FLUX);

/** By default with fal's default model, which takes text and images. */
export const startFal = async (overrides: Overrides = {}, options: FalModelOptions = {}) => {
  const fake = await FakeFal.start();
  const { apiKey = FAL_KEY } = overrides;
  const { baseUrl, platformUrl, jwksUrl } = fake;
  const choice = falChoice(options)._unsafeUnwrap();
  return startWith(fake, fal({ apiKey, baseUrl, platformUrl, jwksUrls: [jwksUrl], choice }), overrides);
};

export const startWorldlabs = async (overrides: Overrides = {}, model: WorldlabsModel = "marble-1.0-draft") => {
  const fake = await FakeWorldlabs.start();
  const { apiKey = WORLDLABS_KEY } = overrides;
  return startWith(fake, worldlabs({ apiKey, baseUrl: fake.baseUrl, model }), overrides);
};

export const startHttp = async (overrides: Overrides = {}) => {
  const fake = await FakeHttpProvider.start();
  const { apiKey: token = HTTP_TOKEN } = overrides;
  return startWith(fake, httpProvider({ token: token || undefined, baseUrl: fake.baseUrl }), overrides);
};

/** A workflow that makes panoramas from text. */
export const COMFYUI_WORKFLOW = {
  "1": { class_type: "CheckpointLoaderSimple", inputs: { ckpt_name: "model.safetensors" } },
  "2": { class_type: "CLIPTextEncode", inputs: { clip: ["1", 1], text: "equirectangular, {prompt}" } },
  "3": { class_type: "CLIPTextEncode", inputs: { clip: ["1", 1], text: "{negative_prompt}" } },
  "4": { class_type: "EmptyLatentImage", inputs: { width: "{width}", height: "{height}" } },
  "5": {
    class_type: "KSampler",
    inputs: { model: ["1", 0], positive: ["2", 0], negative: ["3", 0], latent_image: ["4", 0], seed: "{seed}" },
  },
  "9": { class_type: "SaveImage", inputs: { images: ["5", 0], filename_prefix: "panorama" } },
};

/** `workflow`: the name of a bundled one, or its JSON. */
export const startComfyui = async (overrides: Overrides = {}, workflow: unknown = COMFYUI_WORKFLOW) => {
  const fake = await FakeComfyui.start();
  return startWith(fake, comfyui({ baseUrl: fake.baseUrl, workflow: namedWorkflow(workflow) }), overrides);
};

/** `workflow`: the name of a bundled one, or its JSON. */
export const startComfy = async (overrides: Overrides = {}, workflow: unknown = COMFYUI_WORKFLOW) => {
  const fake = await FakeComfy.start();
  const { apiKey = COMFY_KEY } = overrides;
  fake.open = apiKey === "";
  const settings = { apiKey: apiKey || undefined, baseUrl: fake.baseUrl, workflow: namedWorkflow(workflow) };
  return startWith(fake, comfy(settings), overrides);
};

/** Two ComfyUI servers, each over HTTP to its own fake. */
export const startComfyuiServers = async (overrides: Overrides = {}) => {
  const { clock = new HandClock(), warn = () => {}, ...others } = overrides;
  const [first, second] = [await startComfyui({ ...others, clock }), await startComfyui({ ...others, clock })];
  return {
    provider: new ComfyuiServers({ servers: [first.provider, second.provider], clock, warn }),
    fakes: [first.fake, second.fake] as const,
    close: async () => {
      await first.close();
      await second.close();
    },
  };
};

const startWith = <Fake extends FakeProvider>(fake: Fake, dialect: Dialect, overrides: Overrides) => {
  const { clock = new HandClock(), storage = new MemoryObjectStorage() } = overrides;
  const { warn = () => {}, onCircuitChange = () => {} } = overrides;
  const http = new UpstreamHttp();
  const publicFetch = new PublicFetch([fake.server.url]);
  const settings = { ...SETTINGS, ...overrides };
  /** Reads without the rate limiter and the circuit breaker, so that tests of these are not disturbed. */
  const read: Read = async (path, query) => {
    const { signal } = new AbortController();
    const call = { url: dialect.baseUrl + path, headers: dialect.authorization, body: query, signal };
    return (await http.call({ method: query === undefined ? "GET" : "POST", ...call })).mapErr(({ reason }) =>
      unavailable(reason),
    );
  };
  return {
    provider: new RemoteProvider({ dialect, settings, http, publicFetch, storage, clock, warn, onCircuitChange }),
    fake,
    dialect,
    read,
    close: async () => {
      await Promise.all([http.close(), publicFetch.close()]);
      await fake.close();
    },
  };
};

/** A chain of two providers, each over HTTP to its own fake. */
export const startChain =
  (...starts: readonly [StartOfOne, StartOfOne]) =>
  async (overrides: Overrides) => {
    const [first, second] = [await starts[0](overrides), await starts[1](overrides)];
    return {
      provider: new ProviderChain([first.provider, second.provider], overrides.warn ?? (() => {})),
      fakes: [first.fake, second.fake],
      close: async () => {
        await first.close();
        await second.close();
      },
    };
  };

export type StartOfOne = (overrides: Overrides) => Promise<{
  readonly provider: GenerationProvider;
  readonly fake: FakeProvider;
  close(): Promise<void>;
}>;
