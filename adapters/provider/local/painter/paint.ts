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
  for (let column = from; column < to; column++) {
    painter.paint(column);
    const azimuth = ((column + 0.5) / size.widthPixels) * 2 * Math.PI - Math.PI;
    for (let row = 0; row < size.heightPixels; row++) {
      for (let channel = 0; channel < 3; channel++) paint[channel] = light[row * 3 + channel] as number;
      if (references.length > 0) {
        const elevation = (0.5 - (row + 0.5) / size.heightPixels) * Math.PI;
        const level = Math.cos(elevation);
        referencePainter.paint(paint, Math.sin(azimuth) * level, Math.sin(elevation), Math.cos(azimuth) * level);
      }
      const at = (row * size.widthPixels + column) * 3;
      for (let channel = 0; channel < 3; channel++) {
        const dither = cellRandom(column, row, channel, 1) + cellRandom(column, row, channel, 2) - 1;
        pixels[at + channel] = byteOf(paint[channel] ?? 0, dither);
      }
    }
  }
};
