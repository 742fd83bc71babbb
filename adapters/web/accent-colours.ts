/** A colour as `#rrggbb`. */
export type Colour = `#${string}`;

/** Colours of the pages that follow from an operator's accent colour (client/styles/tokens.css). */
export type AccentColours = {
  readonly onLight: Colour;
  readonly onDark: Colour;
};

/** Background of text on a panel, in the light and in the dark scheme. */
const PANELS = { light: "#ffffff", dark: "#1a1c23" } as const;

/** WCAG 2.2, 1.4.3: of text with its background. */
export const CONTRAST_MIN = 4.5;

/** The share of the accent in the background of chosen items (`--soft` in client/styles/tokens.css). */
const SOFT = 0.1;

/**
 * The contrast of the accent with the background on which it is least readable: a panel with a share of the accent
 * itself.
 */
export const accentContrast = (accent: Colour, scheme: "light" | "dark"): number =>
  contrast(accent, mixedColour(PANELS[scheme], accent, SOFT));

/** The style that replaces the accent of the pages. The other colours follow from it (client/styles/tokens.css). */
export const accentStyle = ({ onLight, onDark }: AccentColours): string =>
  `:root{--brand:${onLight};--accent:light-dark(${onLight},${onDark})}`;

/** The second colour in a share of the first one, from 0 to 1. */
export function mixedColour(from: Colour, to: Colour, share: number): Colour {
  const others = channels(to);
  return `#${channels(from)
    .map((value, index) => Math.round(value + ((others[index] ?? 0) - value) * share))
    .map((value) => value.toString(16).padStart(2, "0"))
    .join("")}`;
}

/** WCAG 2.2: from 1 to 21. */
export function contrast(one: Colour, other: Colour): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const channels = (colour: Colour): readonly number[] =>
  [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
