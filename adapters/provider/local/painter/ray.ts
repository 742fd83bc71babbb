/**
 * A direction on the unit sphere, in a row of the picture. One is reused for all pixels: for fractions that are passed one
 * by one to a function, the compiler has to allocate memory.
 */
export type Ray = {
  row: number;
  x: number;
  y: number;
  z: number;
  /** The angle to the sun or moon in radians. */
  angleToLight: number;
};
