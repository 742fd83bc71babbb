import type { PixelSize } from "../../../../domain/images/resolution.js";
import { byteOf } from "./colour.js";
import { ColumnPainter } from "./column.js";
import { cellRandom } from "./noise.js";
import { type Reference, ReferencePainter } from "./references.js";
import type { Scene } from "./scene.js";

/** The columns `from` (included) to `to` (excluded) of a picture. `pixels` belongs to the whole picture. */
export type Strip = {
  readonly scene: Scene;
  readonly references: readonly Reference[];
  readonly size: PixelSize;
  readonly from: number;
  readonly to: number;
  readonly pixels: Uint8Array;
  /** One number in shared memory. Once it is not 0, the strip ends after its current column, unfinished. */
  readonly stopped?: Int32Array;
};

/**
 * Paints a strip of an equirectangular picture: the middle column shows the view ahead, the first column continues the
 * last one. A scene looks the same at every size.
 */
export const paintColumns = ({ scene, references, size, from, to, pixels, stopped }: Strip): void => {
  const painter = new ColumnPainter(scene, size);
  const referencePainter = references.length === 0 ? undefined : new ReferencePainter(references, size);
  const { heightPixels, widthPixels } = size;
  const light = new Float64Array(heightPixels * 3);
  const stripBytes = (to - from) * 3;
  // The rows of the whole picture are far apart in memory: writing single pixels to them takes much longer.
  const strip = new Uint8Array(heightPixels * stripBytes);
  for (let column = from; column < to; column++) {
    if (stopped !== undefined && Atomics.load(stopped, 0) !== 0) return;
    painter.paint(column);
    light.set(painter.light);
    referencePainter?.paint(light, column);
    developColumn(strip.subarray((column - from) * 3), stripBytes, light, column);
  }
  for (let row = 0; row < heightPixels; row++) {
    pixels.set(strip.subarray(row * stripBytes, (row + 1) * stripBytes), (row * widthPixels + from) * 3);
  }
};

/** Writes the pixels of a column, one every `stride` bytes. */
const developColumn = (bytes: Uint8Array, stride: number, light: Float64Array, column: number): void => {
  const rows = light.length / 3;
  for (let channel = 0; channel < 3; channel++) {
    for (let row = 0; row < rows; row++) {
      bytes[row * stride + channel] = byteOf(light[row * 3 + channel] as number, dither(column, row, channel));
    }
  }
};

/** From -1 to 1, most often near 0. */
const dither = (column: number, row: number, channel: number): number =>
  cellRandom(column, row, channel, 1) + cellRandom(column, row, channel, 2) - 1;
