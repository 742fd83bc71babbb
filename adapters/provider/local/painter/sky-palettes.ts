import { colour, type Rgb } from "./colour.js";

/** Four colours of the sky from the horizon up, interpolated in between. */
export type Gradient = readonly [horizon: Rgb, low: Rgb, middle: Rgb, zenith: Rgb];

export type SkyPalette = {
  readonly towardsSun: Gradient;
  readonly awayFromSun: Gradient;
  /** The light on the land: directly from the sun or moon, and from the whole sky. */
  readonly sunlight: Rgb;
  readonly skylight: Rgb;
  /** The glow around the sun or moon. */
  readonly glow: Rgb;
  readonly glowStrength: number;
  readonly cloudLit: Rgb;
  readonly cloudShade: Rgb;
  readonly sunElevationDegrees: number;
};

const gradient = (horizon: string, low: string, middle: string, zenith: string): Gradient => [
  colour(horizon),
  colour(low),
  colour(middle),
  colour(zenith),
];

const light = (hex: string, strength: number): Rgb => {
  const [red, green, blue] = colour(hex);
  return [red * strength, green * strength, blue * strength];
};

export const SKY_PALETTES = {
  day: {
    towardsSun: gradient("#e4eef2", "#b7d8f0", "#5f9fdd", "#2462b0"),
    awayFromSun: gradient("#d5e6f0", "#9cc8ec", "#4388d2", "#1f5aa8"),
    sunlight: light("#fff3dc", 2.05),
    skylight: light("#9fc3ec", 0.62),
    glow: light("#fff4dd", 1),
    glowStrength: 0.8,
    cloudLit: light("#fffdf8", 1.25),
    cloudShade: colour("#a3b4c9"),
    sunElevationDegrees: 42,
  },
  golden: {
    towardsSun: gradient("#ffe0a8", "#f5cf9f", "#94b0cf", "#4a78b4"),
    awayFromSun: gradient("#e6d3cc", "#b9c4d8", "#6c98cb", "#3a6cae"),
    sunlight: light("#ffc98a", 2.4),
    skylight: light("#9db4dc", 0.5),
    glow: light("#ffca7a", 1.2),
    glowStrength: 1,
    cloudLit: light("#ffeacb", 1.2),
    cloudShade: colour("#9a98b0"),
    sunElevationDegrees: 14,
  },
  sunset: {
    towardsSun: gradient("#ffb657", "#f4814f", "#a9678f", "#343d7c"),
    awayFromSun: gradient("#b78a9f", "#9a7fae", "#5a5f9c", "#2a3673"),
    sunlight: light("#ff9a55", 1.7),
    skylight: light("#9a8cc4", 0.62),
    glow: light("#ff9a3d", 1.5),
    glowStrength: 1.2,
    cloudLit: light("#ff9f68", 1.25),
    cloudShade: colour("#5d4a78"),
    sunElevationDegrees: 4.5,
  },
  sunrise: {
    towardsSun: gradient("#ffd9a0", "#fab7a0", "#b7a5cf", "#5d84c4"),
    awayFromSun: gradient("#d9bccb", "#b6add2", "#7d93cc", "#4a70b6"),
    sunlight: light("#ffbf94", 1.8),
    skylight: light("#b0b0dd", 0.75),
    glow: light("#ffc584", 1.3),
    glowStrength: 1.1,
    cloudLit: light("#ffd0b8", 1.2),
    cloudShade: colour("#8a83ac"),
    sunElevationDegrees: 6,
  },
  dusk: {
    towardsSun: gradient("#f0926a", "#b06c8a", "#4b4a8c", "#141d4e"),
    awayFromSun: gradient("#5b5f95", "#4c5290", "#2b3776", "#111947"),
    sunlight: light("#a08ad0", 0.35),
    skylight: light("#7c84c8", 0.7),
    glow: light("#ff8c5a", 0.8),
    glowStrength: 0.7,
    cloudLit: light("#b06a86", 0.9),
    cloudShade: colour("#2c2f5c"),
    sunElevationDegrees: -4,
  },
  night: {
    towardsSun: gradient("#33507c", "#1d3560", "#0d1d42", "#050c22"),
    awayFromSun: gradient("#223a62", "#152a52", "#0a1738", "#040a1d"),
    sunlight: light("#a9c4ff", 0.3),
    skylight: light("#4c6cb4", 0.13),
    glow: light("#b8d0ff", 0.6),
    glowStrength: 0.32,
    cloudLit: light("#7c93c4", 0.42),
    cloudShade: colour("#0e1a38"),
    sunElevationDegrees: 28,
  },
  storm: {
    towardsSun: gradient("#a9b3b5", "#6b7780", "#454f5a", "#2a313b"),
    awayFromSun: gradient("#7e8a90", "#58636d", "#39434e", "#232a34"),
    sunlight: light("#cfd8e0", 0.45),
    skylight: light("#9fb0c0", 0.5),
    glow: light("#d8e0e4", 0.6),
    glowStrength: 0.15,
    cloudLit: colour("#9aa5ad"),
    cloudShade: colour("#2c333d"),
    sunElevationDegrees: 35,
  },
  overcast: {
    towardsSun: gradient("#e3e7e8", "#cdd5da", "#b1bcc6", "#94a3b2"),
    awayFromSun: gradient("#d3dadd", "#bcc7cf", "#a2afbb", "#8898a8"),
    sunlight: light("#f2f4f4", 0.9),
    skylight: light("#c9d4de", 0.75),
    glow: light("#ffffff", 0.7),
    glowStrength: 0.3,
    cloudLit: colour("#eef1f2"),
    cloudShade: colour("#8d9aa8"),
    sunElevationDegrees: 35,
  },
  mars: {
    towardsSun: gradient("#d9b08c", "#cfa07a", "#b58463", "#8a6450"),
    awayFromSun: gradient("#cf9f7a", "#bd8e6b", "#a27558", "#7d5a49"),
    sunlight: light("#ffe0c0", 1.7),
    skylight: light("#d8a582", 0.5),
    glow: light("#dfe8f5", 0.9),
    glowStrength: 0.6,
    cloudLit: colour("#e6c9ad"),
    cloudShade: colour("#a98468"),
    sunElevationDegrees: 24,
  },
  airless: {
    towardsSun: gradient("#020203", "#010102", "#010102", "#010102"),
    awayFromSun: gradient("#020203", "#010102", "#010102", "#010102"),
    sunlight: light("#fffaf0", 2.3),
    skylight: light("#aab4c8", 0.06),
    glow: light("#ffffff", 1),
    glowStrength: 0.25,
    cloudLit: colour("#000000"),
    cloudShade: colour("#000000"),
    sunElevationDegrees: 24,
  },
  alien: {
    towardsSun: gradient("#ffd0b0", "#f08ab0", "#7a58c0", "#20206a"),
    awayFromSun: gradient("#7ad0d0", "#5a90d0", "#5a58b8", "#1c1c60"),
    sunlight: light("#ffc8e0", 1.6),
    skylight: light("#9a90f0", 0.5),
    glow: light("#ffb0d0", 1.1),
    glowStrength: 0.9,
    cloudLit: light("#ffd0e4", 1.1),
    cloudShade: colour("#6a5ab0"),
    sunElevationDegrees: 12,
  },
  inferno: {
    towardsSun: gradient("#e0602a", "#8a3322", "#3a1c20", "#140d14"),
    awayFromSun: gradient("#7a2f22", "#4f2422", "#2a1a20", "#120c14"),
    sunlight: light("#ff8a50", 0.6),
    skylight: light("#a05a4a", 0.25),
    glow: light("#ff6a2a", 1),
    glowStrength: 0.8,
    cloudLit: colour("#9a4230"),
    cloudShade: colour("#20161a"),
    sunElevationDegrees: 5,
  },
  neon: {
    towardsSun: gradient("#ff7ab0", "#c04aa8", "#4a2a90", "#120e3c"),
    awayFromSun: gradient("#4a3a9a", "#3a2c84", "#221c60", "#0c0a2c"),
    sunlight: light("#ff9ad0", 0.35),
    skylight: light("#7a60d0", 0.24),
    glow: light("#ff80b8", 0.9),
    glowStrength: 0.8,
    cloudLit: light("#e06ab0", 0.8),
    cloudShade: colour("#2c1e60"),
    sunElevationDegrees: -4,
  },
  underwater: {
    towardsSun: gradient("#0d5f86", "#1681a4", "#36abc4", "#9fe6ea"),
    awayFromSun: gradient("#0a4f76", "#107093", "#2b9cb8", "#8fdfe6"),
    sunlight: light("#aef2ee", 1),
    skylight: light("#3fa8c4", 0.55),
    glow: light("#e0ffff", 1),
    glowStrength: 1,
    cloudLit: colour("#ffffff"),
    cloudShade: colour("#ffffff"),
    sunElevationDegrees: 70,
  },
} as const satisfies Record<string, SkyPalette>;

export type SkyName = keyof typeof SKY_PALETTES;
