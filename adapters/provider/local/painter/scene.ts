import type { Rgb } from "./colour.js";
import type { SkyPalette } from "./sky-palettes.js";

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
  readonly props: PropSet | undefined;
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
  /** How uneven its colour is at arm's length: 1 for grass, less for sand and snow. */
  readonly mottling: number;
  /** Flowers and the like, as bright dots. */
  readonly dots: Rgb | undefined;
  /** Glows in the lowest parts. */
  readonly lava: boolean;
};

export type PropKind = "conifer" | "broadleaf" | "palm" | "cactus" | "tower" | "kelp";

/** What stands on the ground, in rings around the viewer. */
export type PropSet = {
  readonly kind: PropKind;
  readonly colours: readonly [Rgb, Rgb];
  /** The share of places that are taken. */
  readonly density: number;
  readonly nearMetres: number;
  readonly farMetres: number;
  readonly heightMetres: number;
  /** None stands higher up the mountain. */
  readonly groundMetresMax: number;
  readonly snowy: boolean;
  /** The share of windows with a light behind them. */
  readonly lit: number;
};
