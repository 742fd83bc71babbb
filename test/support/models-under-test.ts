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

/** Every remote provider, and every model preset of it. */
export const MODELS: readonly ModelUnderTest[] = [
  { name: "`fal:seedream-4.5`", start: (o) => startFal(o, { model: "seedream-4.5" }) },
  { name: "`fal:gpt-image-2`", start: (o) => startFal(o, { model: "gpt-image-2" }) },
  {
    name: "`fal:gpt-image-2`, canvas",
    start: (o) => startFal(o, { model: "gpt-image-2", references: "canvas" }),
  },
  { name: "`fal:gpt-image-2.5`", start: (o) => startFal(o, { model: "gpt-image-2.5" }) },
  {
    name: "`fal:gpt-image-2.5`, canvas",
    start: (o) => startFal(o, { model: "gpt-image-2.5", references: "canvas" }),
  },
  { name: "`fal:flux-2`", start: (o) => startFal(o, { model: "flux-2" }) },
  {
    name: "`fal:flux-3`",
    start: (o) => startFal(o, { model: "flux-3" }),
    said: ofRatio,
  },
  {
    name: "`fal:hunyuan-world`",
    start: (o) => startFal(o, { model: "hunyuan-world" }),
    said: () => "1920 × 960",
  },
  { name: "`fal:flux-lora`", start: (o) => startFal(o, FAL_FLUX) },
  { name: "`replicate:bytedance/seedream-4`", start: (o) => startUncheckedReplicate(o, "bytedance/seedream-4") },
  {
    name: "`replicate:black-forest-labs/flux-2-pro`",
    start: (o) => startUncheckedReplicate(o, "black-forest-labs/flux-2-pro"),
  },
  { name: "`replicate:` with a FLUX.1 LoRA", start: (o) => startUncheckedReplicate(o) },
  { name: "`comfy:qwen-image-edit`", start: (o) => startComfy(o, "qwen-image-edit") },
  { name: "`comfy:qwen-image-360`", start: (o) => startComfy(o, "qwen-image-360") },
  { name: "`comfyui:qwen-image-edit`", start: (o) => startComfyui(o, "qwen-image-edit") },
  { name: "`comfyui:qwen-image-360`", start: (o) => startComfyui(o, "qwen-image-360") },
  {
    name: "`skybox`",
    start: startSkybox,
    said: () => "by style",
  },
  {
    name: "`worldlabs`",
    start: startWorldlabs,
    said: () => "not documented",
  },
  { name: "`http`", start: startHttp },
];
