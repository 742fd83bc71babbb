import { isPanorama } from "../../photo-views.js";
import { luminance, mixed, type Rgb, scaled } from "./colour.js";
import { landOf } from "./lands.js";
import { randomsFrom, seedFrom } from "./noise.js";
import { changeOf } from "./panorama-change.js";
import { meanColour, type Reference } from "./references.js";
import type { Scene } from "./scene.js";
import { type Gradient, SKY_PALETTES, type SkyName, type SkyPalette } from "./sky-palettes.js";
import { type Feature, featuresOf } from "./words.js";

/**
 * The scene that the words of the prompt describe. Everything else is pseudo-random, seeded by the prompt and the
 * customer's seed. Without a prompt the references determine the colours. A single panorama is changed by the words.
 */
export const sceneOf = (prompt: string | undefined, references: readonly Reference[], seed?: number): Scene => {
  const words = (prompt ?? "").trim().toLowerCase().replace(/\s+/g, " ");
  const seedText = (text: string) => (seed === undefined ? text : `${text} ${seed}`);
  const [panorama] = references;
  if (panorama !== undefined && references.length === 1 && isPanorama(panorama)) {
    const features = featuresOf(words);
    return { ...describedScene("", features, undefined), panorama: { change: changeOf(features, panorama) } };
  }
  if (words !== "" || references.length === 0) return describedScene(seedText(words), featuresOf(words), undefined);
  const colours = meanColour(references, 0, 1);
  return tinted(describedScene(seedText(colours.join(" ")), new Set(), skyLike(references)), references);
};

type Has = (...wanted: readonly Feature[]) => boolean;

/** The scene of these features; `seedText` decides about the rest. */
export const describedScene = (seedText: string, features: ReadonlySet<Feature>, sky: SkyName | undefined): Scene => {
  const has: Has = (...wanted) => wanted.some((feature) => features.has(feature));
  const seed = seedFrom(seedText);
  const random = randomsFrom(seed);
  const skyName = sky ?? skyOf(has, random());
  const palette: SkyPalette = SKY_PALETTES[skyName];
  const inSpace = skyName === "airless" && !has("lunar", "alien");
  const airless = skyName === "airless";
  const elevationDegrees = palette.sunElevationDegrees + (random() - 0.5) * 3;
  return {
    seed,
    sky: palette,
    light: {
      azimuth: (random() - 0.5) * 1.6,
      elevation: (elevationDegrees * Math.PI) / 180,
      body: inSpace ? "hidden" : bodyOf(skyName, has),
    },
    clouds: airless || has("clear", "underwater", "fog") ? 0 : cloudsOf(skyName, random()) * (has("aurora") ? 0.4 : 1),
    cirrus: CIRRUS_SKIES.includes(skyName) ? 0.3 + 0.5 * random() : 0,
    stars: has("storm", "overcast", "fog") ? 0 : (STARS[skyName] ?? 0),
    nebula: inSpace ? 1 : skyName === "alien" ? 0.12 : 0,
    aurora: has("aurora") ? 1 : 0,
    lightning: has("storm"),
    planets: has("moons") ? "moons" : airless || has("planet", "alien") ? "planets" : "none",
    haze: hazeOf(skyName, has),
    land: inSpace ? undefined : landOf(features, skyName, random),
  };
};

const CIRRUS_SKIES: readonly SkyName[] = ["day", "golden", "sunset", "sunrise", "dusk", "alien", "neon"];
const STARS: Partial<Record<SkyName, number>> = { airless: 1, night: 0.9, dusk: 0.3, neon: 0.35, alien: 0.35 };
const CLOUDS: Partial<Record<SkyName, number>> = {
  storm: 0.95,
  overcast: 0.85,
  inferno: 0.7,
  night: 0.22,
  dusk: 0.42,
  mars: 0.08,
};

const cloudsOf = (sky: SkyName, chance: number): number => CLOUDS[sky] ?? 0.34 + 0.2 * chance;

const skyOf = (has: Has, chance: number): SkyName => {
  if (has("underwater")) return "underwater";
  if (has("mars")) return "mars";
  if (has("lunar", "space") && !has("city", "forest", "lake", "mountains", "ocean", "desert")) return "airless";
  if (has("volcano")) return "inferno";
  if (has("neon")) return "neon";
  if (has("aurora")) return "night";
  if (has("storm")) return "storm";
  if (has("night", "moon", "space")) return "night";
  if (has("dusk", "moons")) return "dusk";
  if (has("sunset")) return "sunset";
  if (has("sunrise")) return "sunrise";
  if (has("golden")) return "golden";
  if (has("alien", "planet")) return "alien";
  if (has("overcast", "fog")) return "overcast";
  if (has("day", "clear")) return "day";
  if (has("snow")) return "golden"; // a high sun leaves no shadow on it
  return chance < 0.42 ? "day" : chance < 0.68 ? "golden" : chance < 0.86 ? "sunset" : "sunrise";
};

const bodyOf = (sky: SkyName, has: Has): Scene["light"]["body"] => {
  if (["underwater", "storm", "overcast", "dusk", "inferno", "neon"].includes(sky)) return "hidden";
  if (sky !== "night") return "sun";
  return has("aurora", "moons") || (has("space") && !has("moon")) ? "hidden" : "moon";
};

const hazeOf = (sky: SkyName, has: Has): Scene["haze"] => {
  if (has("underwater")) return { perMetre: 1 / 32, thick: 0.2 };
  // Distant objects must not vanish where nothing is near.
  if (has("fog") && has("lake", "ocean", "mountains")) return { perMetre: 1 / 1600, thick: 0.55 };
  if (has("fog")) return { perMetre: 1 / 130, thick: 0.96 };
  if (sky === "airless") return { perMetre: 0, thick: 0 };
  if (sky === "storm") return { perMetre: 1 / 4500, thick: 0.35 };
  if (sky === "mars") return { perMetre: 1 / 9000, thick: 0.1 };
  return { perMetre: 1 / 14_000, thick: 0 };
};

/** Strength of the tint by the colours of the references. */
const SHARE = 0.6;

/** The kind of sky that matches the upper part of the references. */
const skyLike = (references: readonly Reference[]): SkyName => {
  const sky = meanColour(references, 0, 0.4);
  const light = luminance(sky);
  if (light < 0.03) return "night";
  if (sky[0] > sky[2] * 1.25) return light < 0.35 ? "sunset" : "golden";
  return light < 0.1 ? "dusk" : "day";
};

/** The scene tinted with the colours of the references: their upper part for the sky, their lower for the ground. */
const tinted = (scene: Scene, references: readonly Reference[]): Scene => {
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
