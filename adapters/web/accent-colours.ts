/** A colour as `#rrggbb`. */
export type Colour = `#${string}`;

/** Colours of the pages that follow from an operator's accent colour (client/styles/colours.css). */
export type AccentColours = {
  readonly onLight: Colour;
  readonly onDark: Colour;
};

const WHITE: Colour = "#ffffff";
const BLACK: Colour = "#000000";
/** Background of text on a panel, in the light and in the dark scheme. */
const PANELS = { light: WHITE, dark: "#1a1c23" } as const;

/** WCAG 2.2, 1.4.3: of text with its background. */
export const CONTRAST_MIN = 4.5;
/** Contrast of a derived colour on a dark background, which has no bright surfaces around it. */
const CONTRAST_ON_DARK = 6;
const STEP = 0.02;

/** The share of the accent in the background of chosen items. */
const SOFT = 0.1;

/**
 * The contrast of the accent with the background on which it is least readable: a panel with a share of the accent
 * itself.
 */
export const accentContrast = (accent: Colour, scheme: "light" | "dark"): number =>
  contrast(accent, mixed(PANELS[scheme], accent, SOFT));

/** The accent, made darker for the light scheme or lighter for the dark one, until it can be read there. */
export const readableAccent = (accent: Colour, scheme: "light" | "dark"): Colour => {
  const [end, needed] = scheme === "light" ? ([BLACK, CONTRAST_MIN] as const) : ([WHITE, CONTRAST_ON_DARK] as const);
  let share = 0;
  while (share < 1 && accentContrast(mixed(accent, end, share), scheme) < needed) share += STEP;
  return mixed(accent, end, Math.min(share, 1));
};

/** The style that replaces the accent of the pages: also the colour under the pointer, of text on it, and behind it. */
export const accentStyle = ({ onLight, onDark }: AccentColours): string => {
  const both = (light: Colour, dark: Colour) => `light-dark(${light},${dark})`;
  const colours = {
    "--brand": onLight,
    "--accent": both(onLight, onDark),
    "--accent-hover": both(mixed(onLight, BLACK, 0.12), mixed(onDark, WHITE, 0.2)),
    "--on-accent": both(WHITE, inkOn(onDark)),
    "--soft": both(mixed(PANELS.light, onLight, SOFT), mixed(PANELS.dark, onDark, SOFT)),
  };
  return `:root{${Object.entries(colours)
    .map(([name, value]) => `${name}:${value}`)
    .join(";")}}`;
};

/** A dark tone of a light colour, for text on it. */
const inkOn = (colour: Colour): Colour => {
  let share = 0.75;
  while (share < 1 && contrast(mixed(colour, BLACK, share), colour) < CONTRAST_MIN) share += STEP;
  return mixed(colour, BLACK, Math.min(share, 1));
};

/** The second colour in a share of the first one, from 0 to 1. */
const mixed = (from: Colour, to: Colour, share: number): Colour => {
  const others = channels(to);
  return `#${channels(from)
    .map((value, index) => Math.round(value + ((others[index] ?? 0) - value) * share))
    .map((value) => value.toString(16).padStart(2, "0"))
    .join("")}`;
};

/** WCAG 2.2: from 1 to 21. */
export const contrast = (one: Colour, other: Colour): number => {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
};

const luminance = (colour: Colour): number => {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const channels = (colour: Colour): readonly number[] =>
  [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
