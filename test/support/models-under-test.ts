import type { RemoteProvider } from "../../adapters/provider/remote/remote-provider.js";
import type { FakeProvider, UpstreamTask } from "./fake-provider.js";
import {
  FAL_FLUX,
  type Overrides,
  startComfy,
  startComfyui,
  startFal,
  startHttp,
  startSkybox,
  startUncheckedReplicate,
  startWorldlabs,
} from "./providers-under-test.js";

type Remote = { readonly provider: RemoteProvider; readonly fake: FakeProvider; close(): Promise<void> };

/** A provider with a model or preset. */
export type ModelUnderTest = {
  /** As in the settings. */
  readonly name: string;
  readonly start: (overrides: Overrides) => Promise<Remote>;
  /** Of a model that is not asked for a size in pixels: what is known of it beforehand. */
  readonly said?: (task: UpstreamTask) => string;
};

const ofRatio = ({ input }: UpstreamTask): string => `${input.aspect_ratio} at ${input.resolution}`;

/** `canvas`: all reference images as one. */
const ofFal = (
  model: string,
  { canvas = false, ...said }: { readonly canvas?: boolean; readonly said?: NonNullable<ModelUnderTest["said"]> } = {},
) => ({
  name: `\`fal:${model}\`${canvas ? ", canvas" : ""}`,
  start: (o: Overrides) => startFal(o, { model, ...(canvas && { references: "canvas" }) }),
  ...said,
});
const ofReplicate = (model: string) => ({
  name: `\`replicate:${model}\``,
  start: (o: Overrides) => startUncheckedReplicate(o, model),
});

/** Every remote provider, and every model preset of it. */
export const MODELS: readonly ModelUnderTest[] = [
  ofFal("seedream-4.5"),
  ofFal("gpt-image-2"),
  ofFal("gpt-image-2", { canvas: true }),
  ofFal("gpt-image-2.5"),
  ofFal("gpt-image-2.5", { canvas: true }),
  ofFal("flux-2"),
  ofFal("flux-3", { said: ofRatio }),
  ofFal("hunyuan-world", { said: () => "1920 × 960" }),
  { name: "`fal:flux-lora`", start: (o) => startFal(o, FAL_FLUX) },
  ofReplicate("bytedance/seedream-4"),
  ofReplicate("black-forest-labs/flux-2-pro"),
  { name: "`replicate:` with a FLUX.1 LoRA", start: startUncheckedReplicate },
  { name: "`comfy:qwen-image-edit`", start: (o) => startComfy(o, "qwen-image-edit") },
  { name: "`comfy:qwen-image-360`", start: (o) => startComfy(o, "qwen-image-360") },
  { name: "`comfyui:qwen-image-edit`", start: (o) => startComfyui(o, "qwen-image-edit") },
  { name: "`comfyui:qwen-image-360`", start: (o) => startComfyui(o, "qwen-image-360") },
  { name: "`skybox`", start: startSkybox, said: () => "by style" },
  { name: "`worldlabs`", start: startWorldlabs, said: () => "not documented" },
  { name: "`http`", start: startHttp },
];
