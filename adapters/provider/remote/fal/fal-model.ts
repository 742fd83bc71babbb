import type { Resolution } from "../../../../domain/images/resolution.js";
import { type Abilities, ALL_ABILITIES } from "../../../../domain/tasks/abilities.js";

/** Inputs of an endpoint, by name. */
export type FalInputs = Readonly<Record<string, unknown>>;

/** Inputs that fal needs for a panorama at one of its endpoints. */
export type FalEndpoint = {
  /** Such as `fal-ai/flux-2/edit`. */
  readonly id: string;
  /**
   * The input for reference images, how many of them it keeps, and the shortest edge that it takes, if there is one.
   * Absent if it makes pictures from text alone.
   */
  readonly references?: {
    readonly input: "image_urls" | "image_url";
    readonly max: number;
    readonly edgePixelsMin?: number;
  };
  /** The inputs that say the size. */
  readonly sizes: Readonly<Record<Resolution, FalInputs>>;
  /** Inputs without which it still makes a picture. `seed` is our mark in fal's list of requests. */
  readonly takes: readonly ("seed" | "quality" | "loras" | "mask_url")[];
  /** True if the model paints by the mask alone and ignores the pixels that it may paint. */
  readonly needsMask?: boolean;
  /** Inputs that are the same in every request. */
  readonly inputs: FalInputs;
  /** In characters. Absent if fal states none that is below ours. */
  readonly promptCharactersMax?: number;
};

/** A model is a pair of endpoints, for requests without and with reference images. At least one of them is there. */
export type FalModel = {
  readonly text?: FalEndpoint;
  readonly images?: FalEndpoint;
  /** Beginning of prompts for a model that was trained on panoramas. Absent for others, which need a template. */
  readonly prefix?: string;
};

export const endpointsOf = ({ text, images }: FalModel): readonly FalEndpoint[] =>
  [...new Set([text, images])].filter((endpoint) => endpoint !== undefined);

/** The endpoint for a request with this number of reference images. */
export const endpointFor = ({ text, images }: FalModel, references: number): FalEndpoint | undefined =>
  references === 0 ? text : images;

/**
 * The limits of the model. With `canvas`, all reference images are one picture. `leading`: the characters that our
 * instructions add to a prompt (leading-prompt.ts).
 */
export const falAbilities = (model: FalModel, references: "separate" | "canvas", leading: number): Abilities => {
  const limits = endpointsOf(model).map(({ promptCharactersMax = Number.POSITIVE_INFINITY }) => promptCharactersMax);
  const ours = model.prefix === undefined ? leading : `${model.prefix}, `.length;
  const picturesMax = model.images?.references?.max ?? 0;
  return {
    imagesMin: model.text === undefined ? 1 : 0,
    imagesMax: references === "canvas" ? ALL_ABILITIES.imagesMax : Math.min(ALL_ABILITIES.imagesMax, picturesMax),
    promptCharactersMax: Math.min(ALL_ABILITIES.promptCharactersMax, Math.min(...limits) - ours),
  };
};
