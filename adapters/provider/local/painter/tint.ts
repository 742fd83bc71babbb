import { luminance, mixed, type Rgb, scaled } from "./colour.js";
import { meanColour, type Reference } from "./references.js";
import type { Scene } from "./scene.js";
import type { Gradient, SkyName, SkyPalette } from "./sky-palettes.js";

/** How strongly the colours of the references tint the landscape. */
const SHARE = 0.6;

/** The kind of sky that matches the upper part of the references. */
export const skyLike = (references: readonly Reference[]): SkyName => {
  const sky = meanColour(references, 0, 0.4);
  const light = luminance(sky);
  if (light < 0.03) return "night";
  if (sky[0] > sky[2] * 1.25) return light < 0.35 ? "sunset" : "golden";
  return light < 0.1 ? "dusk" : "day";
};

/** The scene tinted with the colours of the references: their upper part for the sky, their lower part for the ground. */
export const tinted = (scene: Scene, references: readonly Reference[]): Scene => {
  const above = meanColour(references, 0, 0.4);
  const below = meanColour(references, 0.6, 1);
  const { land } = scene;
  return {
    ...scene,
    sky: tintedSky(scene.sky, above),
    land: land && {
      ...land,
      ground: { ...land.ground, low: towards(land.ground.low, below), lowOther: towards(land.ground.lowOther, below) },
    },
  };
};

const tintedSky = (sky: SkyPalette, tint: Rgb): SkyPalette => {
  const gradient = ([horizon, low, middle, zenith]: Gradient): Gradient => [
    towards(horizon, tint),
    towards(low, tint),
    towards(middle, tint),
    towards(zenith, tint),
  ];
  return { ...sky, towardsSun: gradient(sky.towardsSun), awayFromSun: gradient(sky.awayFromSun) };
};

/** Changes the hue and keeps the brightness. */
const towards = (colour: Rgb, tint: Rgb): Rgb =>
  mixed(colour, scaled(tint, luminance(colour) / Math.max(luminance(tint), 0.01)), SHARE);
