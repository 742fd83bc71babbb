import { err, ok, type Result } from "neverthrow";
import { endpointsOf, type FalModel } from "./fal-model.js";
import { FAL_DEFAULT, FAL_PRESETS } from "./fal-presets.js";

/** Operator settings of a model. Errors contain the names of the variables. */
export type FalModelOptions = {
  /** A short name (`FAL_PRESETS`) or the id of an endpoint. */
  readonly model?: string | undefined;
  /** The endpoint for requests with reference images, beside the one for text. */
  readonly editModel?: string | undefined;
  /** The weights of a LoRA. */
  readonly loraUrl?: string | undefined;
  readonly quality?: FalQuality | undefined;
  readonly references?: FalReferences | undefined;
};

export const FAL_QUALITIES = ["low", "medium", "high", "xhigh", "max"] as const;
export type FalQuality = (typeof FAL_QUALITIES)[number];

export const FAL_REFERENCES = ["separate", "canvas"] as const;
export type FalReferences = (typeof FAL_REFERENCES)[number];

/** The model that an operator has chosen. `name`: the name of its place. */
export type FalChoice = {
  readonly name: string;
  readonly quality: FalQuality;
  readonly loraUrl: string | undefined;
  readonly references: FalReferences;
} & (
  | { readonly preset: FalModel }
  /** Endpoints whose schema is read at the start. */
  | { readonly preset?: undefined; readonly endpoint: string; readonly editEndpoint: string | undefined }
);

const ENDPOINT_ID = /^[\w.-]+(\/[\w.-]+)+$/;
const PRESETS: Readonly<Record<string, FalModel>> = FAL_PRESETS;

/** The error is a sentence without its end, and names the variable to change. */
export const falChoice = (options: FalModelOptions): Result<FalChoice, string> => {
  const { model = FAL_DEFAULT, editModel, loraUrl, quality = "medium", references = "separate" } = options;
  const shared = { loraUrl, quality, references };
  if (options.model === undefined && editModel !== undefined) {
    return err("FAL_EDIT_MODEL needs FAL_MODEL, the endpoint for requests without reference images");
  }
  if (editModel !== undefined && !ENDPOINT_ID.test(editModel)) {
    return err(`FAL_EDIT_MODEL=${editModel}: must be the id of an endpoint, such as fal-ai/flux-2/edit`);
  }
  const named = presetOf(model, editModel);
  if (named === undefined) {
    return ENDPOINT_ID.test(model)
      ? ok({ name: model, ...shared, endpoint: model, editEndpoint: editModel })
      : err(`FAL_MODEL=${model}: must be ${Object.keys(PRESETS).join(", ")} or the id of an endpoint`);
  }
  const [name, preset] = named;
  if (editModel !== undefined && editModel !== preset.images?.id) {
    return err(`FAL_MODEL=${name} has an endpoint for reference images; unset FAL_EDIT_MODEL`);
  }
  if (loraUrl === undefined && endpointsOf(preset).some(({ takes }) => takes.includes("loras"))) {
    return err(`FAL_MODEL=${name} needs FAL_LORA_URL, the URL of the LoRA weights for panoramas`);
  }
  if (references === "canvas" && preset.images?.takes.includes("mask_url") !== true) {
    return err(`FAL_REFERENCES=canvas needs a model with a mask, and FAL_MODEL=${name} has none; set separate`);
  }
  return ok({ name, ...shared, preset });
};

/** By its short name, or by an endpoint of it, unless that is to make a pair with another endpoint. */
const presetOf = (model: string, editModel: string | undefined): readonly [string, FalModel] | undefined =>
  Object.entries(PRESETS).find(
    ([name, preset]) =>
      name === model ||
      (endpointsOf(preset).some(({ id }) => id === model) &&
        (editModel === undefined || editModel === preset.images?.id)),
  );
