import type { Rgb } from "./colour.js";
import { landOf } from "./lands.js";
import { randomsFrom, seedOf } from "./noise.js";
import type { Reference } from "./references.js";
import { SKY_PALETTES, type SkyName, type SkyPalette } from "./sky-palettes.js";
import { type Feature, featuresOf } from "./words.js";

/** Everything a picture shows, decided once from the words; the painters only follow it. Angles in radians. */
export type Scene = {
  readonly seed: number;
  readonly sky: SkyPalette;
  readonly light: { readonly azimuth: number; readonly elevation: number; readonly body: "sun" | "moon" | "hidden" };
  /** Shares from 0 (none) to 1. */
  readonly clouds: number;
  readonly cirrus: number;
  readonly stars: number;
  readonly nebula: number;
  readonly aurora: number;
  readonly lightning: boolean;
  readonly planets: boolean;
  /** Light lost per metre of air; `thick` hides the sky near the horizon too. */
  readonly haze: { readonly perMetre: number; readonly thick: number };
  readonly land: Land | undefined;
};

export type Land = {
  readonly eyeMetres: number;
  readonly relief: Relief;
  readonly water: Water | undefined;
  readonly ground: Ground;
  readonly props: Props | undefined;
};

export type Relief = {
  readonly shape: "eroded" | "dunes" | "soft" | "craters";
  readonly heightMetres: number;
  readonly wavelengthMetres: number;
  /** The land is flat around the viewer and reaches its height between these distances. */
  readonly nearMetres: number;
  readonly farMetres: number;
  /** Lifts (or sinks) the ground; below 0 there is water where the scene has any. */
  readonly baseMetres: number;
  /** Unevenness everywhere, also near the viewer. */
  readonly rollMetres: number;
  /** Tilts the near ground down towards the sun: a beach. */
  readonly tilt: number;
};

export type Water = { readonly deep: Rgb; readonly shallow: Rgb; readonly roughness: number };

export type Ground = {
  readonly low: Rgb;
  readonly lowOther: Rgb;
  readonly steep: Rgb;
  readonly shore: Rgb;
  readonly snow: Rgb;
  readonly snowLineMetres: number;
  /** Flowers and the like, as bright dots. */
  readonly dots: Rgb | undefined;
  /** Glows in the lowest parts. */
  readonly lava: boolean;
};

export type Props = {
  readonly kind: "conifers" | "broadleaves" | "palms" | "cacti" | "towers" | "kelp";
  readonly colours: readonly [Rgb, Rgb];
  readonly density: number;
  readonly nearMetres: number;
  readonly farMetres: number;
  readonly heightMetres: number;
  readonly snowy: boolean;
  readonly lit: number;
};

/** The scene that the words of the prompt describe; what they leave open, the prompt's own seed decides. */
export const sceneOf = (prompt: string | undefined, references: readonly Reference[]): Scene => {
  const features = featuresOf(prompt ?? "");
  const has = (...wanted: readonly Feature[]): boolean => wanted.some((feature) => features.has(feature));
  const seed = prompt === undefined ? references.length : seedOf(prompt.trim().toLowerCase().replace(/\s+/g, " "));
  const random = randomsFrom(seed);
  const skyName = skyOf(has, random());
  const palette: SkyPalette = SKY_PALETTES[skyName];
  const dark = ["night", "airless"].includes(skyName);
  const inSpace =
    has("space", "planet") && !has("mars", "lunar", "alien", "mountains", "desert", "ocean", "lake", "city", "forest");
  const azimuth = (random() - 0.5) * 1.6;
  const elevation = ((palette.sunElevationDegrees + (random() - 0.5) * 3) * Math.PI) / 180;
  const covered = {
    storm: 0.95,
    overcast: 0.85,
    fog: 0.3,
    inferno: 0.7,
    night: 0.22,
    dusk: 0.42,
    mars: 0.08,
    airless: 0,
  };
  const clouds =
    has("clear", "underwater") || has("fog")
      ? 0
      : ((covered as Record<string, number>)[skyName] ?? 0.32 + 0.22 * random());
  const clearNight = skyName === "night" && !has("storm", "overcast", "fog");
  return {
    seed,
    sky: palette,
    light: { azimuth, elevation, body: bodyOf(skyName, has, inSpace) },
    clouds: inSpace || has("underwater") ? 0 : clouds * (has("aurora") ? 0.4 : 1),
    cirrus: dark || inSpace || has("underwater", "storm", "overcast", "mars") ? 0 : 0.3 + 0.6 * random(),
    stars:
      inSpace || skyName === "airless"
        ? 1
        : clearNight
          ? 0.9
          : skyName === "dusk" || skyName === "neon"
            ? 0.3
            : skyName === "alien"
              ? 0.35
              : 0,
    nebula: inSpace ? 1 : skyName === "alien" ? 0.12 : 0,
    aurora: has("aurora") ? 1 : 0,
    lightning: has("storm"),
    planets: has("planet", "alien") || inSpace || has("lunar"),
    haze: has("fog")
      ? { perMetre: 1 / 260, thick: 0.96 }
      : has("underwater")
        ? { perMetre: 1 / 32, thick: 0.2 }
        : hazeOf(skyName),
    land: inSpace ? undefined : landOf(features, skyName, random),
  };
};

const skyOf = (has: (...wanted: readonly Feature[]) => boolean, chance: number): SkyName => {
  if (has("underwater")) return "underwater";
  if (has("mars")) return "mars";
  if (has("lunar", "space") && !has("city", "forest", "lake", "mountains", "ocean", "desert")) return "airless";
  if (has("volcano")) return "inferno";
  if (has("neon")) return "neon";
  if (has("aurora")) return "night";
  if (has("storm")) return "storm";
  if (has("night", "moon", "space")) return "night";
  if (has("dusk")) return "dusk";
  if (has("sunset")) return "sunset";
  if (has("sunrise")) return "sunrise";
  if (has("golden")) return "golden";
  if (has("alien", "planet")) return "alien";
  if (has("overcast", "fog")) return "overcast";
  if (has("day", "clear")) return "day";
  return chance < 0.42 ? "day" : chance < 0.68 ? "golden" : chance < 0.86 ? "sunset" : "sunrise";
};

const bodyOf = (
  sky: SkyName,
  has: (...wanted: readonly Feature[]) => boolean,
  inSpace: boolean,
): Scene["light"]["body"] => {
  if (inSpace || has("underwater") || ["storm", "overcast", "dusk", "inferno", "neon"].includes(sky)) return "hidden";
  if (sky === "night") return has("aurora") || (has("space") && !has("moon")) ? "hidden" : "moon";
  return "sun";
};

const hazeOf = (sky: SkyName): Scene["haze"] => {
  if (sky === "airless") return { perMetre: 0, thick: 0 };
  if (sky === "storm") return { perMetre: 1 / 4500, thick: 0.35 };
  if (sky === "mars") return { perMetre: 1 / 9000, thick: 0.1 };
  return { perMetre: 1 / 14_000, thick: 0 };
};
