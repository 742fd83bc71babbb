import type { PixelSize } from "../../../../domain/resolution.js";
import { byteOf, type Paint } from "./colour.js";
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
};

/**
 * Paints a strip of an equirectangular picture: the middle column shows the view ahead, the first column continues the
 * last one. A scene looks the same at every size.
 */
export const paintColumns = ({ scene, references, size, from, to, pixels }: Strip): void => {
  const painter = new ColumnPainter(scene, size);
  const referencePainter = new ReferencePainter(references);
  const { light } = painter;
  const paint: Paint = [0, 0, 0];
  const { heightPixels, widthPixels } = size;
  for (let column = from; column < to; column++) {
    painter.paint(column);
    const azimuth = ((column + 0.5) / widthPixels) * 2 * Math.PI - Math.PI;
    const right = Math.sin(azimuth);
    const ahead = Math.cos(azimuth);
    for (let row = 0; row < heightPixels; row++) {
      paint[0] = light[row * 3] as number;
      paint[1] = light[row * 3 + 1] as number;
      paint[2] = light[row * 3 + 2] as number;
      if (references.length > 0) {
        const elevation = (0.5 - (row + 0.5) / heightPixels) * Math.PI;
        const level = Math.cos(elevation);
        referencePainter.paint(paint, right * level, Math.sin(elevation), ahead * level);
      }
      const at = (row * widthPixels + column) * 3;
      pixels[at] = byteOf(paint[0], dither(column, row, 0));
      pixels[at + 1] = byteOf(paint[1], dither(column, row, 1));
      pixels[at + 2] = byteOf(paint[2], dither(column, row, 2));
    }
  }
};

/** From -1 to 1, most often near 0. */
const dither = (column: number, row: number, channel: number): number =>
  cellRandom(column, row, channel, 1) + cellRandom(column, row, channel, 2) - 1;
