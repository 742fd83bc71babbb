import type { PixelSize } from "./resolution.js";

/** Measured figures of the decoded result of a provider, to tell good models from bad ones. */
export type ResultFigures = {
  /**
   * Difference between the left and the right edge beyond that of neighbouring columns, at its worst place, in levels
   * of 0 to 255. 0 for an edge that cannot be seen in the viewer.
   */
  readonly seam: number;
  /**
   * Mean difference between the left and the right edge, divided by that of neighbouring columns anywhere in the
   * picture. About 1 for a picture that closes.
   */
  readonly seamRatio: number;
  /**
   * Standard deviation of the colours in the first row (zenith) and in the last row (nadir), in levels of 0 to 255.
   * Each row is one point on the sphere, so 0 is ideal. Only measured: any correction would be visible.
   */
  readonly poleDeviation: { readonly zenith: number; readonly nadir: number };
  /** Height of the horizon, from 0 at the top to 1; `undefined` if none is clear. 0.5 is ideal. */
  readonly horizon?: number | undefined;
  /**
   * Direction of the brightest part with details, in degrees right of the middle and upwards; `undefined` if the middle
   * is nearly as good. Only viewers use it.
   */
  readonly view?: { readonly yaw: number; readonly pitch: number } | undefined;
  /** The mean colour. Tiles have it until their picture is loaded. */
  readonly colour?: `#${string}` | undefined;
};

/** A decoded result. */
export type Picture = ResultFigures & {
  /** Size before resizing. */
  readonly nativeSize: PixelSize;
  /** All pixels have nearly the same colour. */
  readonly isFlat: boolean;
};

/** Maximum figures of a usable result. A figure without a bound may be anything. */
export type ResultBounds = {
  readonly seamMax?: number | undefined;
  readonly seamRatioMax?: number | undefined;
  readonly poleDeviationMax?: number | undefined;
};

/** The stored part of a picture: only the figures. */
export const figuresOf = ({ seam, seamRatio, poleDeviation, horizon, view, colour }: Picture): ResultFigures => ({
  seam,
  seamRatio,
  poleDeviation,
  horizon,
  view,
  colour,
});

/** Reason why the picture is unusable and refunded, as a clause without a full stop; `undefined` if it is usable. */
export const unusableReasonOf = (
  { isFlat, seam, seamRatio, poleDeviation: { zenith, nadir } }: Picture,
  { seamMax = Infinity, seamRatioMax = Infinity, poleDeviationMax = Infinity }: ResultBounds,
): string | undefined => {
  if (isFlat) return "it is a single flat colour";
  const figures = [
    ["seam", seam, seamMax],
    ["seam ratio", seamRatio, seamRatioMax],
    ["pole deviation", Math.max(zenith, nadir), poleDeviationMax],
  ] as const;
  for (const [name, figure, max] of figures) {
    if (figure > max) return `its ${name} of ${figure} is above ${max}`;
  }
  return undefined;
};

/** Initial view direction in degrees: `yaw` right of the middle, `pitch` upwards. */
export type StartView = { readonly yaw: number; readonly pitch: number };

/** The direction for attributes and addresses, to a tenth of a degree. */
export const startViewText = ({ yaw, pitch }: StartView): string =>
  [yaw, pitch].map((degrees) => Number(degrees.toFixed(1))).join();

/**
 * Normalizes the URL of a generated image by `new URL()`, so that databases and headers accept all its characters.
 * `undefined` if it is not an http or https URL, which could not be downloaded or shown.
 */
export const resultUrlOf = (text: string): string | undefined => {
  if (!URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === "http:" || protocol === "https:" ? href : undefined;
};
