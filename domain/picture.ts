import type { PixelSize } from "./resolution.js";

/** What was measured in the decoded result of a provider. */
export type Picture = {
  /** Before it is resized. */
  readonly nativeSize: PixelSize;
  /** All pixels have nearly the same colour. */
  readonly isFlat: boolean;
  /**
   * How much more the left and the right edge differ from each other than neighbouring columns there do, in levels of 0
   * to 255, where it is worst. 0 for an edge that cannot be seen in the viewer.
   */
  readonly seam: number;
  /** How much the colours of the first or of the last row vary, in levels of 0 to 255: each row is one point, a pole. */
  readonly poles: number;
};

/**
 * Why the customer should not pay for the picture, as a clause without a full stop; `undefined` if it is usable.
 * `seamMax`: the largest `seam` allowed; `undefined` allows any.
 */
export const flawOf = ({ isFlat, seam }: Picture, seamMax: number | undefined): string | undefined => {
  if (isFlat) return "it is a single flat colour";
  if (seam > (seamMax ?? Number.POSITIVE_INFINITY)) return `its seam of ${seam} is above ${seamMax}`;
  return undefined;
};
