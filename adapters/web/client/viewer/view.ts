/** View direction. Degrees; `yaw` to the right, `pitch` upwards, `fov` is the horizontal field of view. */
export type View = { readonly yaw: number; readonly pitch: number; readonly fov: number };

/** The initial view of a panorama. */
export type Start = Omit<View, "fov">;

export type Size = { readonly width: number; readonly height: number };

export const radians = (degrees: number): number => (degrees * Math.PI) / 180;
export const degrees = (angle: number): number => (angle * 180) / Math.PI;

/** -180 to 180 degrees. */
export const wrapped = (yaw: number): number => ((((yaw + 180) % 360) + 360) % 360) - 180;

/** The field of view in one direction, from that in the other one and the ratio of their lengths. */
export const otherField = (fov: number, ratio: number): number =>
  degrees(2 * Math.atan(Math.tan(radians(fov) / 2) * ratio));

const PATTERN = /^#v=(-?\d{1,3}(?:\.\d+)?),(-?\d{1,2}(?:\.\d+)?),(\d{1,3}(?:\.\d+)?)$/;

/**
 * The view of a fragment such as `#v=12.5,-8,75`: yaw, pitch, and the field of view along the longer side of the
 * window. `undefined` for any other text.
 */
export const viewOf = (fragment: string): View | undefined => {
  const found = PATTERN.exec(fragment);
  if (found === null) return undefined;
  const [yaw = 0, pitch = 0, fov = 0] = found.slice(1).map(Number);
  return Math.abs(yaw) <= 360 && Math.abs(pitch) <= 90 && fov >= 10 && fov <= 150 ? { yaw, pitch, fov } : undefined;
};

/** From the attribute that the page has, `yaw,pitch`. Without it the middle of the picture. */
export const startOf = (text = "0,0"): Start => {
  const [yaw = 0, pitch = 0] = text.split(",").map(Number);
  return { yaw, pitch };
};

export const fragmentOf = ({ yaw, pitch, fov }: View): string =>
  `#v=${[yaw, pitch, fov].map((degrees) => Number(degrees.toFixed(1))).join()}`;
