import { describe, expect, it } from "vitest";
import { type FalModelOptions, falChoice } from "../../../../../adapters/provider/remote/fal/fal-choice.js";
import { FAL_PRESETS } from "../../../../../adapters/provider/remote/fal/fal-presets.js";

const LORA = "https://weights.example/360.safetensors";
const SHARED = { quality: "medium", loraUrl: undefined, references: "separate" };

describe("falChoice", () => {
  it("chooses seedream-4.5 unless another model is set", () => {
    expect(falChoice({})._unsafeUnwrap()).toEqual({
      name: "seedream-4.5",
      ...SHARED,
      preset: FAL_PRESETS["seedream-4.5"],
    });
  });

  it.each<[FalModelOptions, string]>([
    [{ model: "gpt-image-2.5" }, "gpt-image-2.5"],
    [{ model: "fal-ai/hunyuan_world" }, "hunyuan-world"],
    [{ model: "fal-ai/flux-lora", loraUrl: LORA }, "flux-lora"],
    [{ model: "openai/gpt-image-2" }, "gpt-image-2"],
    [{ model: "openai/gpt-image-2", editModel: "openai/gpt-image-2/edit" }, "gpt-image-2"],
  ])("chooses the preset for %o", (options, name) => {
    expect(falChoice(options)._unsafeUnwrap()).toMatchObject({ name, preset: expect.anything() });
  });

  it("leaves other endpoints to their schemas, also a pair of two presets", () => {
    expect(falChoice({ model: "fal-ai/flux-2/lora", editModel: "fal-ai/flux-2/lora/edit" })._unsafeUnwrap()).toEqual({
      name: "fal-ai/flux-2/lora",
      ...SHARED,
      endpoint: "fal-ai/flux-2/lora",
      editEndpoint: "fal-ai/flux-2/lora/edit",
    });
    expect(falChoice({ model: "openai/gpt-image-2", editModel: "fal-ai/flux-2/edit" })._unsafeUnwrap()).toMatchObject({
      endpoint: "openai/gpt-image-2",
      editEndpoint: "fal-ai/flux-2/edit",
    });
  });

  it.each<[FalModelOptions, string]>([
    [
      { model: "seedream" },
      "FAL_MODEL=seedream: must be seedream-4.5, gpt-image-2, gpt-image-2.5, flux-2, flux-3, hunyuan-world, " +
        "flux-lora or the id of an endpoint",
    ],
    [{ model: "fal-ai/flux:2" }, "FAL_MODEL=fal-ai/flux:2: must be seedream-4.5"],
    [
      { model: "flux-2", editModel: "fal-ai/flux-2/lora/edit" },
      "FAL_MODEL=flux-2 has an endpoint for reference images; unset FAL_EDIT_MODEL",
    ],
    [
      { editModel: "fal-ai/flux-2/edit" },
      "FAL_EDIT_MODEL needs FAL_MODEL, the endpoint for requests without reference images",
    ],
    [
      { model: "fal-ai/flux-2", editModel: "flux-2" },
      "FAL_EDIT_MODEL=flux-2: must be the id of an endpoint, such as fal-ai/flux-2/edit",
    ],
    [
      { model: "fal-ai/flux-lora" },
      "FAL_MODEL=flux-lora needs FAL_LORA_URL, the URL of the LoRA weights for panoramas",
    ],
    [
      { references: "canvas" },
      "FAL_REFERENCES=canvas needs a model with a mask, and FAL_MODEL=seedream-4.5 has none; set separate",
    ],
  ])("refuses %o and names the variable to set", (options, sentence) => {
    expect(falChoice(options)._unsafeUnwrapErr()).toContain(sentence);
  });
});
