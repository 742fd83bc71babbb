/**
 * A direction on the unit sphere, in a row of the picture. One object is reused for all pixels: fractions that are
 * passed to a function one by one would make the compiler allocate memory.
 */
export type Ray = {
  row: number;
  x: number;
  y: number;
  z: number;
  /** The angle to the sun or moon in radians. */
  angleToLight: number;
};
