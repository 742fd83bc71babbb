import type { PixelSize } from "../../../../domain/images/resolution.js";
import { addToRow, type Paint } from "./colour.js";
import { GroundColumn } from "./ground-column.js";
import type { Ray } from "./ray.js";
import type { Scene } from "./scene.js";
import { Sky } from "./sky.js";

/** Paints one column of pixels: everything in one direction (azimuth), from nadir to zenith. */
export class ColumnPainter {
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
