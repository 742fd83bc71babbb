import type { View } from "./sphere.js";

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

/** Where a panorama is entered. */
export type Start = Omit<View, "fov">;

/** From the attribute that the page has, `yaw,pitch`. Without it the middle of the picture. */
export const startOf = (text = "0,0"): Start => {
  const [yaw = 0, pitch = 0] = text.split(",").map(Number);
  return { yaw, pitch };
};

export const fragmentOf = ({ yaw, pitch, fov }: View): string =>
  `#v=${[yaw, pitch, fov].map((degrees) => Number(degrees.toFixed(1))).join()}`;
