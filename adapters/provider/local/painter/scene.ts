import type { Rgb } from "./colour.js";
import type { SkyPalette } from "./sky-palettes.js";

/** Everything that a picture shows; the painters decide nothing. Angles are in radians. */
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
  readonly planets: "none" | "planets" | "moons";
  /** Light lost per metre of air; `thick` also hides the sky near the horizon. */
  readonly haze: { readonly perMetre: number; readonly thick: number };
  readonly land: Land | undefined;
  /** Instead of all others: the only reference is a panorama, which fills the picture. */
  readonly panorama?: { readonly change: Change | undefined } | undefined;
};

/**
 * Light and weather for a panorama, which add and remove nothing. The light of a direction is multiplied by a mixture
 * of `horizon` with `top` or `ground`. `saturation`: 0 for grey. `haze`: its opacity at the horizon.
 */
export type Change = Readonly<Record<"horizon" | "top" | "ground" | "hazeColour", Rgb>> &
  Readonly<Record<"saturation" | "haze" | "snow" | "mean", number>>;

export type Land = {
  readonly eyeMetres: number;
  readonly relief: Relief;
  readonly water: Water | undefined;
  readonly ground: Ground;
  readonly props: PropSet | undefined;
};

export type Relief = {
  readonly shape: "eroded" | "dunes" | "soft" | "craters";
  readonly heightMetres: number;
  readonly wavelengthMetres: number;
  /** The land is flat around the viewer and reaches its height between these distances. */
  readonly nearMetres: number;
  readonly farMetres: number;
  /** Raises or lowers the ground; below 0 there is water, if the scene has any. */
  readonly baseMetres: number;
  /** Height of the bumps everywhere, also near the viewer. */
  readonly rollMetres: number;
  /** Tilts the ground near the viewer down towards the sun, for a beach. */
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
  /** Variation of its colour near the viewer: 1 for grass, less for sand and snow. */
  readonly mottling: number;
  /** Bright dots, such as flowers. */
  readonly dots: Rgb | undefined;
  /** The colour between rows of plants. */
  readonly furrows: Rgb | undefined;
  /** True if the lowest parts glow. */
  readonly lava: boolean;
};

export type PropKind = "conifer" | "broadleaf" | "palm" | "cactus" | "tower" | "kelp" | "coral";

/** Objects on the ground, in rings around the viewer. */
export type PropSet = {
  readonly kind: PropKind;
  /** Two that are mixed; of corals, those of which each has one. */
  readonly colours: readonly [Rgb, Rgb, ...Rgb[]];
  /** The share of possible positions that have a prop. */
  readonly density: number;
  readonly nearMetres: number;
  readonly farMetres: number;
  readonly heightMetres: number;
  /** The highest ground on which a prop stands. */
  readonly groundMetresMax: number;
  readonly snowy: boolean;
  /** The share of windows that are lit. */
  readonly lit: number;
};
