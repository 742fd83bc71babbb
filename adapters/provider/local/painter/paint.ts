import type { PixelSize } from "../../../../domain/images/resolution.js";
import { addToRow, byteOf, type Paint, type Ray } from "./colour.js";
import { GroundColumn } from "./ground-column.js";
import { cellRandom } from "./noise.js";
import { paintPanorama } from "./panorama-change.js";
import { type Reference, ReferencePainter } from "./references.js";
import type { Scene } from "./scene.js";
import { Sky } from "./sky.js";

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
export const paintColumns = (painted: Strip): void => {
  const { scene, references, size, from, to, pixels, stopped } = painted;
  const [panorama] = references;
  if (scene.panorama !== undefined && panorama !== undefined) {
    paintPanorama(panorama.pixels, pixels, painted, scene.panorama.change);
    return;
  }
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

/** Paints one column of pixels: everything in one direction (azimuth), from nadir to zenith. */
class ColumnPainter {
  /** The result of `paint`: linear light, three numbers per row, rows from the top. */
  readonly light: Float32Array;
  private readonly size: PixelSize;
  private readonly sky: Sky;
  private readonly ground: GroundColumn | undefined;
  /** For each row, the height of its directions on the unit sphere, and their distance from the axis. */
  private readonly up: Float64Array;
  private readonly level: Float64Array;
  private readonly paintBuffer: Paint = [0, 0, 0];
  private readonly ray: Ray = { row: 0, x: 0, y: 0, z: 0, angleToLight: 0 };

  constructor(scene: Scene, size: PixelSize) {
    const { heightPixels } = size;
    this.size = size;
    this.light = new Float32Array(heightPixels * 3);
    this.up = new Float64Array(heightPixels);
    this.level = new Float64Array(heightPixels);
    for (let row = 0; row < heightPixels; row++) {
      const elevation = (0.5 - (row + 0.5) / heightPixels) * Math.PI;
      const up = Math.sin(elevation);
      // Where land leaves a gap below the horizon, the sky continues with the colours of the horizon.
      this.up[row] = scene.land === undefined ? up : Math.max(up, 0);
      this.level[row] = Math.cos(elevation);
    }
    this.sky = new Sky(scene, Math.PI / heightPixels, this.up);
    const { light, sky } = this;
    this.ground =
      scene.land === undefined ? undefined : new GroundColumn({ scene, land: scene.land, size, sky, light });
  }

  paint(column: number): void {
    const { light, ground, sky, up, level } = this;
    const { heightPixels, widthPixels } = this.size;
    light.fill(0);
    ground?.paint(column);
    const azimuth = ((column + 0.5) / widthPixels) * 2 * Math.PI - Math.PI;
    const right = Math.sin(azimuth);
    const ahead = Math.cos(azimuth);
    const paint = this.paintBuffer;
    const { ray } = this;
    for (let row = 0; row < heightPixels; row++) {
      const open = ground === undefined ? 1 : (ground.open[row] as number);
      if (open < 0.002) continue;
      const out = level[row] as number;
      ray.row = row;
      ray.x = right * out;
      ray.y = up[row] as number;
      ray.z = ahead * out;
      sky.paint(paint, ray);
      addToRow(light, row, paint, open);
    }
    ground?.paintWater(right, ahead);
  }
}
