import type { PixelSize } from "../../../../domain/images/resolution.js";
import { photoViews } from "../../photo-views.js";
import { cover, linear, type Paint, type Rgb } from "./colour.js";
import { smoothstep } from "./noise.js";

/** A decoded reference image: sRGB bytes (red, green, blue) row by row, in memory that the paint workers share. */
export type Reference = { readonly widthPixels: number; readonly heightPixels: number; readonly pixels: Uint8Array };

/** The share of the distance from edge to middle over which a reference fades in. */
const FEATHER = 0.3;

const LINEAR = Float32Array.from({ length: 256 }, (_, byte) => linear(byte / 255));

/** Projects the reference images into the sphere as seen by a camera, evenly around, the first one ahead. */
export class ReferencePainter {
  private readonly placed: readonly {
    readonly reference: Reference;
    readonly right: number;
    readonly ahead: number;
    readonly halfWidth: number;
    readonly halfHeight: number;
  }[];
  private readonly size: PixelSize;
  private readonly colour: Paint = [0, 0, 0];

  constructor(references: readonly Reference[], size: PixelSize) {
    this.size = size;
    const views = photoViews(references);
    this.placed = views.map(({ azimuthRadians, halfWidth, halfHeight }, index) => ({
      reference: references[index] as Reference,
      right: Math.sin(azimuthRadians),
      ahead: Math.cos(azimuthRadians),
      halfWidth,
      halfHeight,
    }));
  }

  /** Blends the references over the landscape in `light`, a column of the picture: three numbers per row. */
  paint(light: Float64Array, column: number): void {
    const { heightPixels, widthPixels } = this.size;
    const azimuth = ((column + 0.5) / widthPixels) * 2 * Math.PI - Math.PI;
    const right = Math.sin(azimuth);
    const ahead = Math.cos(azimuth);
    const paint: Paint = [0, 0, 0];
    for (let row = 0; row < heightPixels; row++) {
      const elevation = (0.5 - (row + 0.5) / heightPixels) * Math.PI;
      const level = Math.cos(elevation);
      const at = row * 3;
      paint[0] = light[at] as number;
      paint[1] = light[at + 1] as number;
      paint[2] = light[at + 2] as number;
      this.paintDirection(paint, right * level, Math.sin(elevation), ahead * level);
      light.set(paint, at);
    }
  }

  /** Blends the reference in this direction, if there is one, over the landscape in `paint`. */
  private paintDirection(paint: Paint, x: number, y: number, z: number): void {
    for (const { reference, right, ahead, halfWidth, halfHeight } of this.placed) {
      const depth = x * right + z * ahead;
      if (depth < 0.1) continue;
      const u = (x * ahead - z * right) / depth / halfWidth;
      const v = y / depth / halfHeight;
      if (Math.abs(u) >= 1 || Math.abs(v) >= 1) continue;
      const opacity = smoothstep(0, FEATHER, 1 - Math.abs(u)) * smoothstep(0, FEATHER, 1 - Math.abs(v));
      sample(this.colour, reference, (u + 1) / 2, (1 - v) / 2);
      cover(paint, this.colour, opacity);
    }
  }
}

/** Bilinear, in linear light; (0, 0) is the upper left corner, (1, 1) the lower right one. */
const sample = (paint: Paint, { widthPixels, heightPixels, pixels }: Reference, u: number, v: number): void => {
  const x = Math.max(0, Math.min(u * widthPixels - 0.5, widthPixels - 1.001));
  const y = Math.max(0, Math.min(v * heightPixels - 0.5, heightPixels - 1.001));
  const column = Math.floor(x);
  const row = Math.floor(y);
  const nextColumn = Math.min(column + 1, widthPixels - 1);
  const nextRow = Math.min(row + 1, heightPixels - 1);
  for (let channel = 0; channel < 3; channel++) {
    const light = (atColumn: number, atRow: number) =>
      LINEAR[pixels[(atRow * widthPixels + atColumn) * 3 + channel] as number] as number;
    const above = light(column, row) + (light(nextColumn, row) - light(column, row)) * (x - column);
    const below = light(column, nextRow) + (light(nextColumn, nextRow) - light(column, nextRow)) * (x - column);
    paint[channel] = above + (below - above) * (y - row);
  }
};

/** The mean colour of a band of all references; `from` and `to` are shares of the height, from the top. */
export const meanColour = (references: readonly Reference[], from: number, to: number): Rgb => {
  const sum: Paint = [0, 0, 0];
  const colour: Paint = [0, 0, 0];
  const steps = 16;
  for (const reference of references) {
    for (let row = 0; row < steps; row++) {
      for (let column = 0; column < steps; column++) {
        sample(colour, reference, (column + 0.5) / steps, from + ((to - from) * (row + 0.5)) / steps);
        for (let channel = 0; channel < 3; channel++) sum[channel] = (sum[channel] ?? 0) + (colour[channel] ?? 0);
      }
    }
  }
  const count = steps * steps * references.length;
  return [sum[0] / count, sum[1] / count, sum[2] / count];
};
