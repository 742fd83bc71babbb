import type { PixelSize } from "./resolution.js";

/** What was measured in the decoded result of a provider, to tell good models from bad ones. */
export type ResultFigures = {
  /**
   * How much more the left and the right edge differ from each other than neighbouring columns there do, in levels of 0
   * to 255, where it is worst. 0 for an edge that cannot be seen in the viewer.
   */
  readonly seam: number;
  /**
   * The mean difference between the left and the right edge, divided by that of neighbouring columns anywhere in the
   * picture. About 1 for a picture that closes.
   */
  readonly seamRatio: number;
  /**
   * The standard deviation of the colours in the first row (zenith) and in the last row (nadir), in levels of 0 to 255.
   * Each row is one point on the sphere, so 0 is ideal. Only measured: any correction would be visible.
   */
  readonly poleDeviation: { readonly zenith: number; readonly nadir: number };
  /** The height of the horizon, from 0 at the top to 1; `undefined` if none is clear. 0.5 is ideal. */
  readonly horizon?: number | undefined;
  /**
   * The direction of its brightest part with details, in degrees to the right of its middle and upwards; `undefined` if
   * none is much better than the middle. Only viewers use it.
   */
  readonly view?: { readonly yaw: number; readonly pitch: number } | undefined;
};

/** A decoded result. */
export type Picture = ResultFigures & {
  /** Before it is resized. */
  readonly nativeSize: PixelSize;
  /** All pixels have nearly the same colour. */
  readonly isFlat: boolean;
};

/** The largest figures of a usable result. A figure without a bound may be anything. */
export type ResultBounds = {
  readonly seamMax?: number | undefined;
  readonly seamRatioMax?: number | undefined;
  /** Of either pole. */
  readonly poleDeviationMax?: number | undefined;
};

/** Only the figures: what is stored with the task. */
export const figuresOf = ({ seam, seamRatio, poleDeviation, horizon, view }: Picture): ResultFigures => ({
  seam,
  seamRatio,
  poleDeviation,
  horizon,
  view,
});

/** Why the customer should not pay for the picture, as a clause without a full stop; `undefined` if it is usable. */
export const flawOf = (
  { isFlat, seam, seamRatio, poleDeviation: { zenith, nadir } }: Picture,
  { seamMax, seamRatioMax, poleDeviationMax }: ResultBounds,
): string | undefined => {
  if (isFlat) return "it is a single flat colour";
  const figures = [
    ["seam", seam, seamMax],
    ["seam ratio", seamRatio, seamRatioMax],
    ["pole deviation", Math.max(zenith, nadir), poleDeviationMax],
  ] as const;
  for (const [name, figure, max] of figures) {
    if (max !== undefined && figure > max) return `its ${name} of ${figure} is above ${max}`;
  }
  return undefined;
};

/** Where a viewer of a panorama looks first, in degrees: `yaw` to the right of its middle, `pitch` upwards. */
export type StartView = { readonly yaw: number; readonly pitch: number };

/** For attributes and addresses, to a tenth of a degree. */
export const startViewText = ({ yaw, pitch }: StartView): string =>
  [yaw, pitch].map((degrees) => Number(degrees.toFixed(1))).join();

/**
 * The URL of a generated image, as `new URL()` writes it: then it has no character that a database or a header rejects.
 * `undefined` if it is not an http or https URL, which could not be downloaded or shown.
 */
export const resultUrlOf = (text: string): string | undefined => {
  if (!URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === "http:" || protocol === "https:" ? href : undefined;
};
