import { HandClock } from "../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../adapters/memory/memory-object-storage.js";
import { comfyProvider } from "../../adapters/provider/remote/comfy/comfy-provider.js";
import { comfyui } from "../../adapters/provider/remote/comfyui/comfyui.js";
import { comfyuiProvider } from "../../adapters/provider/remote/comfyui/comfyui-provider.js";
import { type FalOptions, falProvider } from "../../adapters/provider/remote/fal/fal-provider.js";
import { httpProvider } from "../../adapters/provider/remote/http/http-provider.js";
import { closeConnections, openConnections, remoteWith } from "../../adapters/provider/remote/open-remote.js";
import type { OpenProvider, RemoteOptions } from "../../adapters/provider/remote/remote-options.js";
import { nameOf, type RemoteProvider } from "../../adapters/provider/remote/remote-provider.js";
import { replicateProvider } from "../../adapters/provider/remote/replicate/replicate-provider.js";
import { skyboxProvider } from "../../adapters/provider/remote/skybox/skybox-provider.js";
import { namedWorkflow } from "../../adapters/provider/remote/workflows/bundled-workflows.js";
import { type WorldlabsModel, worldlabsProvider } from "../../adapters/provider/remote/worldlabs/worldlabs-provider.js";
import { COMFY_KEY, FakeComfy } from "./fake-comfy.js";
import { FakeComfyui } from "./fake-comfyui.js";
import { FAL_KEY, FakeFal } from "./fake-fal.js";
import { FakeHttpProvider, HTTP_TOKEN } from "./fake-http-provider.js";
import type { FakeProvider } from "./fake-provider.js";
import { FakeReplicate, FLUX_360_VERSION, REPLICATE_KEY } from "./fake-replicate.js";
import { FakeSkybox, SKYBOX_KEY } from "./fake-skybox.js";
import { FakeWorldlabs, WORLDLABS_KEY } from "./fake-worldlabs.js";

export type Overrides = Omit<RemoteOptions, "clock"> & {
  readonly clock?: HandClock;
  /** Receives the message of each surprise. */
  readonly warn?: (message: string) => void;
  readonly apiKey?: string;
};

export const SUBMIT_TIMEOUT_MILLISECONDS = 5_000;

const optionsOf = ({ warn = () => {}, onEvent = () => {}, apiKey: _, ...others }: Overrides) =>
  ({
    clock: new HandClock(),
    storage: new MemoryObjectStorage(),
    submitTimeoutMilliseconds: SUBMIT_TIMEOUT_MILLISECONDS,
    // No limit, because in most tests the clock stands still.
    callsPerSecond: Number.POSITIVE_INFINITY,
    onEvent: (event) => {
      if (event.kind === "surprise") warn(event.message);
      onEvent(event);
    },
    ...others,
  }) satisfies RemoteOptions;

/** `close` closes both. */
const started = <Fake extends FakeProvider>(fake: Fake, opened: OpenProvider) => {
  // What opens a provider at one URL returns a RemoteProvider.
  const provider = opened as OpenProvider & RemoteProvider;
  const close = async () => {
    await provider.close();
    await fake.close();
  };
  return { provider, fake, close };
};

/** The real adapters, each over HTTP to its provider's fake. */
export const startSkybox = async (overrides: Overrides = {}) => {
  const fake = await FakeSkybox.start();
  const { apiKey = SKYBOX_KEY } = overrides;
  return started(fake, skyboxProvider({ apiKey, baseUrl: fake.baseUrl, ...optionsOf(overrides) }));
};

/** A FLUX.1 LoRA, which takes one reference image. */
export const REPLICATE_MODEL = `owner/flux-360:${FLUX_360_VERSION}`;

/** Knows the version of the model already, as after the check at the start of the service. */
export const startReplicate = async (overrides: Overrides = {}, model = REPLICATE_MODEL) => {
  const { clock = new HandClock() } = overrides;
  const remote = await startUncheckedReplicate({ ...overrides, clock }, model);
  await remote.provider.check();
  // So that the check does not delay the next call.
  if ("callsPerSecond" in overrides) await clock.advance(1_000);
  remote.fake.server.requests.length = 0;
  return remote;
};

/** With an official model, which keeps three reference images and has no seed. */
export const startSeedream = (overrides: Overrides = {}) => startReplicate(overrides, "bytedance/seedream-4");

export const startUncheckedReplicate = async (overrides: Overrides = {}, model = REPLICATE_MODEL) => {
  const fake = await FakeReplicate.start();
  const { apiKey = REPLICATE_KEY } = overrides;
  return started(fake, replicateProvider({ apiKey, baseUrl: fake.baseUrl, model, ...optionsOf(overrides) }));
};

export const FAL_FLUX = { model: "flux-lora", loraUrl: "https://weights.example/360.safetensors" } as const;

export type FalChoiceOptions = Pick<FalOptions, "model" | "editModel" | "loraUrl" | "quality" | "references">;

/** By default with fal's default model, which takes text and images. */
export const startFal = async (overrides: Overrides = {}, choice: FalChoiceOptions = {}) => {
  const fake = await FakeFal.start();
  const { apiKey = FAL_KEY } = overrides;
  const { baseUrl, platformUrl, jwksUrl } = fake;
  const urls = { baseUrl, platformUrl, jwksUrls: [jwksUrl] };
  return started(fake, falProvider({ apiKey, ...urls, ...choice, ...optionsOf(overrides) }));
};

export const startWorldlabs = async (overrides: Overrides = {}, model?: WorldlabsModel) => {
  const fake = await FakeWorldlabs.start();
  const { apiKey = WORLDLABS_KEY } = overrides;
  return started(fake, worldlabsProvider({ apiKey, baseUrl: fake.baseUrl, model, ...optionsOf(overrides) }));
};

export const startHttp = async (overrides: Overrides = {}) => {
  const fake = await FakeHttpProvider.start();
  const { apiKey: token = HTTP_TOKEN } = overrides;
  return started(fake, httpProvider({ token: token || undefined, baseUrl: fake.baseUrl, ...optionsOf(overrides) }));
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

/** One server, without the choice of the server. `workflow`: the name of a bundled one, or its JSON. */
export const startComfyui = async (overrides: Overrides = {}, workflow: unknown = COMFYUI_WORKFLOW) => {
  const fake = await FakeComfyui.start();
  const dialect = comfyui({ baseUrl: fake.baseUrl, workflow: namedWorkflow(workflow) });
  const connections = openConnections([fake.baseUrl], overrides.userAgent);
  const options = optionsOf(overrides);
  const provider = remoteWith({ dialect, name: nameOf(dialect), options, connections, webhookUrls: undefined });
  const close = () => closeConnections(connections);
  return started(fake, Object.assign(provider, { webhooks: undefined, close }));
};

/** `workflow`: the name of a bundled one, or its JSON. */
export const startComfy = async (overrides: Overrides = {}, workflow: unknown = COMFYUI_WORKFLOW) => {
  const fake = await FakeComfy.start();
  const { apiKey = COMFY_KEY } = overrides;
  fake.open = apiKey === "";
  const access = { apiKey: apiKey || undefined, baseUrl: fake.baseUrl };
  return started(fake, comfyProvider({ ...access, workflow, ...optionsOf(overrides) }));
};

/** Two ComfyUI servers, each over HTTP to its own fake. */
export const startComfyuiServers = async (overrides: Overrides = {}) => {
  const fakes = [await FakeComfyui.start(), await FakeComfyui.start()] as const;
  const [first, second] = fakes;
  const baseUrls = [first.baseUrl, second.baseUrl] as const;
  const provider = comfyuiProvider({ baseUrls, workflow: COMFYUI_WORKFLOW, ...optionsOf(overrides) });
  const close = async () => {
    await provider.close();
    await Promise.all(fakes.map((fake) => fake.close()));
  };
  return { provider, fakes, close };
};
