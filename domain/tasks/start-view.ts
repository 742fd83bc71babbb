import { valueOrThrow } from "../brand.js";

/**
 * Where a viewer of a panorama looks first. Degrees: `yaw` to the right of the middle of the picture, `pitch` upwards,
 * `fov` the field of view along the longer side of the window; without it, the viewer chooses one.
 */
export type StartView = { readonly yaw: number; readonly pitch: number; readonly fov?: number | undefined };

const PATTERN = /^(-?\d{1,3}(?:\.\d)?),(-?\d{1,2}(?:\.\d)?)(?:,(\d{1,3}(?:\.\d)?))?$/;

/** From `yaw,pitch` or `yaw,pitch,fov`. Returns `undefined` for any other text. */
export const parseStartView = (text: string): StartView | undefined => {
  const found = PATTERN.exec(text);
  if (found === null) return undefined;
  const [yaw = 0, pitch = 0] = found.slice(1, 3).map(Number);
  const fov = found[3] === undefined ? undefined : Number(found[3]);
  if (Math.abs(yaw) > 180 || Math.abs(pitch) > 90) return undefined;
  return fov === undefined || (fov >= 10 && fov <= 150) ? { yaw, pitch, ...(fov !== undefined && { fov }) } : undefined;
};

/** Makes one from a constant. Throws for text that cannot be one: input is parsed. */
export const startView = (text: string): StartView =>
  valueOrThrow(parseStartView(text), text, "a view, such as 12.5,-8,75");

/** The text that `parseStartView` reads, to a tenth of a degree. */
export const startViewText = ({ yaw, pitch, fov }: StartView): string =>
  [yaw, pitch, fov].flatMap((degrees) => (degrees === undefined ? [] : Number(degrees.toFixed(1)))).join();
