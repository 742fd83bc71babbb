import type { PixelSize } from "../../../../domain/resolution.js";
import { cover, type Paint } from "./colour.js";
import { GroundPainter, Terrain } from "./land.js";
import { Props } from "./props.js";
import type { Ray } from "./ray.js";
import type { Land, Scene } from "./scene.js";
import { Sky } from "./sky.js";
import { WaterPainter } from "./water.js";

/** Below this width two directions are painted per column, so that upright edges are anti-aliased. */
const FINE_WIDTH = 2000;
/** A rise below this share of a row is merged with the next one. */
const ROWS_MIN = 0.3;
const DISTANCE_MAX = 42_000;

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
    this.ground = scene.land === undefined ? undefined : new GroundColumn(scene, scene.land, size, this.sky);
  }

  paint(column: number): void {
    const { light, ground, sky, up, level } = this;
    const { heightPixels, widthPixels } = this.size;
    light.fill(0);
    ground?.paint(column, light);
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
      const at = row * 3;
      light[at] = (light[at] as number) + paint[0] * open;
      light[at + 1] = (light[at + 1] as number) + paint[1] * open;
      light[at + 2] = (light[at + 2] as number) + paint[2] * open;
    }
    ground?.paintWater(right, ahead, light);
  }
}

/**
 * Walks over the ground from the viewer to the far mountains, once for each direction, and paints each piece that rises
 * above all nearer ones. It computes exactly how much of a row is covered, so ridges are anti-aliased.
 */
class GroundColumn {
  /** For each row, the share that the ground does not cover. */
  readonly open: Float32Array;
  private readonly size: PixelSize;
  private readonly scene: Scene;
  private readonly terrain: Terrain;
  private readonly groundPainter: GroundPainter;
  private readonly props: Props | undefined;
  private readonly water: WaterPainter | undefined;
  private readonly sky: Sky;
  /** The distances of a walk's steps, and the octaves of the terrain that are visible at each. */
  private readonly distances: Float64Array;
  private readonly octaves: Float64Array;
  /** For each row, the tangent of its elevation. */
  private readonly tangents: Float64Array;
  /** For each row, the share of water and the sum of its distances. */
  private readonly waterShare: Float32Array;
  private readonly waterDistance: Float32Array;
  /** For each row, the share that props hide from everything behind them, in the current walk. */
  private readonly hidden: Float32Array;
  private readonly air: Paint = [0, 0, 0];

  constructor(scene: Scene, land: Land, size: PixelSize, sky: Sky) {
    this.size = size;
    this.scene = scene;
    this.sky = sky;
    const pixelRadians = Math.PI / size.heightPixels;
    this.terrain = new Terrain(scene, land, pixelRadians);
    this.groundPainter = new GroundPainter(scene, land, this.terrain);
    this.props = land.props === undefined ? undefined : new Props(scene, land.props);
    this.water =
      land.water === undefined
        ? undefined
        : new WaterPainter(scene, land.water, sky, this.terrain.eyeHeight, size.heightPixels);
    this.open = new Float32Array(size.heightPixels);
    this.waterShare = new Float32Array(size.heightPixels);
    this.waterDistance = new Float32Array(size.heightPixels);
    this.hidden = new Float32Array(size.heightPixels);
    this.tangents = new Float64Array(size.heightPixels).map((_, row) =>
      Math.tan((0.5 - (row + 0.5) / size.heightPixels) * Math.PI),
    );
    const distances: number[] = [];
    const first = 0.03 * land.eyeMetres;
    for (let distance = first; distance < DISTANCE_MAX; distance += first + (0.01 + pixelRadians) * distance)
      distances.push(distance);
    this.distances = Float64Array.from(distances);
    this.octaves = this.distances.map((distance) => this.terrain.octavesAt(distance));
  }

  paint(column: number, light: Float32Array): void {
    const { open, waterShare, waterDistance } = this;
    const { widthPixels } = this.size;
    open.fill(1);
    waterShare.fill(0);
    waterDistance.fill(0);
    const walks = widthPixels < FINE_WIDTH ? 2 : 1;
    for (let walk = 0; walk < walks; walk++) {
      const azimuth = ((column + (walk + 0.5) / walks) / widthPixels) * 2 * Math.PI - Math.PI;
      this.walk(azimuth, 1 / walks, light);
    }
  }

  /** The direction of the column's middle is (right, ahead). The sky must be painted before. */
  paintWater(right: number, ahead: number, light: Float32Array): void {
    if (this.water === undefined) return;
    this.sky.paintAir(this.air, right, 0.02, ahead);
    for (let row = 0; row < this.waterShare.length; row++) {
      const share = this.waterShare[row] as number;
      if (share < 0.002) continue;
      const distance = (this.waterDistance[row] as number) / share;
      this.water.paint(light, this.open, this.air, row, share, distance, right, ahead);
    }
  }

  private walk(azimuth: number, weight: number, light: Float32Array): void {
    const { terrain, distances, octaves, water, props } = this;
    const { heightPixels } = this.size;
    const { eyeHeight } = terrain;
    const right = Math.sin(azimuth);
    const ahead = Math.cos(azimuth);
    this.sky.paintAir(this.air, right * 0.999, 0.035, ahead * 0.999);

    const highest = terrain.top + (props?.heightMetres ?? 0);
    this.hidden.fill(0);
    let ring = 0;
    let top = heightPixels;
    let lastRow = heightPixels;
    let lastDistance = 0;
    let lastHeight = this.surfaceAt(0, 0, 9);
    let lastIsHidden = false;
    const rowOf = (height: number, distance: number) =>
      (0.5 - Math.atan2(height - eyeHeight, distance) / Math.PI) * heightPixels;

    // Ground is hidden if it rises less than this per metre of distance; the margin is for rounding.
    const hiddenRiseBelow = (row: number) => Math.tan((0.5 - (row - ROWS_MIN) / heightPixels) * Math.PI) - 1e-9;
    let hiddenRise = hiddenRiseBelow(top);

    for (let index = 0; index < distances.length; index++) {
      const distance = distances[index] as number;
      if (index % 16 === 0 && rowOf(highest, distance) >= top) break;
      const isRing = props !== undefined && distance >= (props.rings[ring] ?? DISTANCE_MAX);
      // What stands on hidden ground may be visible.
      const floor = isRing ? Number.NEGATIVE_INFINITY : eyeHeight + distance * hiddenRise;
      const height = terrain.height(right * distance, ahead * distance, octaves[index] as number, floor);
      const wet = water !== undefined && height < 0;
      const surface = wet ? 0 : height;
      const isHidden = surface <= floor;
      const row = isHidden ? heightPixels : rowOf(surface, distance);
      if (row < top - ROWS_MIN) {
        if (lastIsHidden) {
          lastHeight = this.surfaceAt(right * lastDistance, ahead * lastDistance, octaves[index - 1] as number);
          lastRow = rowOf(lastHeight, lastDistance);
        }
        const rise = Math.max(lastRow - row, 1e-6);
        for (let pixel = Math.ceil(top) - 1; pixel >= 0 && pixel + 1 > row; pixel--) {
          const from = Math.max(pixel, row);
          const to = Math.min(pixel + 1, top);
          const share = (lastRow - (from + to) / 2) / rise;
          const at = lastDistance + (distance - lastDistance) * (share < 0 ? 0 : share);
          const covered = (to - from) * weight * (1 - (this.hidden[pixel] as number));
          if (covered === 0) continue;
          if (wet) {
            this.waterShare[pixel] = (this.waterShare[pixel] as number) + covered;
            this.waterDistance[pixel] = (this.waterDistance[pixel] as number) + covered * at;
            this.open[pixel] = (this.open[pixel] as number) - covered;
          } else {
            this.paintGround(
              light,
              pixel,
              covered,
              right * at,
              ahead * at,
              lastHeight + (surface - lastHeight) * share,
              at,
            );
          }
        }
        top = row;
        hiddenRise = hiddenRiseBelow(top);
      }
      if (props !== undefined && isRing) {
        const groundAt = (other: number) =>
          terrain.height(Math.sin(other) * distance, Math.cos(other) * distance, octaves[index] as number, floor);
        for (let side = -1; side <= 1; side++) {
          if (props.standsAt(ring, side, azimuth, wet ? height : surface, groundAt))
            this.paintProp(light, props, distance, props.footMetres, top, weight);
        }
        ring++;
      }
      lastRow = row;
      lastDistance = distance;
      lastHeight = surface;
      lastIsHidden = isHidden;
      if (top <= 0) break;
    }
  }

  /** The height of the ground, or of the water above it. */
  private surfaceAt(x: number, z: number, octaves: number): number {
    const height = this.terrain.height(x, z, octaves);
    return this.water !== undefined && height < 0 ? 0 : height;
  }

  private paintGround(
    light: Float32Array,
    row: number,
    covered: number,
    x: number,
    z: number,
    height: number,
    level: number,
  ): void {
    const paint = this.paintBuffer;
    const drop = height - this.terrain.eyeHeight;
    const distance = Math.sqrt(level * level + drop * drop);
    this.groundPainter.paint(paint, x, z, height, distance);
    cover(paint, this.air, 1 - Math.exp(-distance * this.scene.haze.perMetre));
    const at = row * 3;
    light[at] = (light[at] as number) + paint[0] * covered;
    light[at + 1] = (light[at + 1] as number) + paint[1] * covered;
    light[at + 2] = (light[at + 2] as number) + paint[2] * covered;
    this.open[row] = (this.open[row] as number) - covered;
  }

  /** Paints the visible part of what stands on the ground here. */
  private paintProp(
    light: Float32Array,
    props: Props,
    distance: number,
    ground: number,
    top: number,
    weight: number,
  ): void {
    const { heightPixels } = this.size;
    const { eyeHeight } = this.terrain;
    const rowOf = (height: number) => (0.5 - Math.atan2(height - eyeHeight, distance) / Math.PI) * heightPixels;
    const first = Math.max(0, Math.floor(rowOf(ground + props.standingMetres)));
    const foot = Math.min(top, rowOf(ground - 0.3));
    const pixelMetres = (distance * Math.PI) / heightPixels;
    const fog = 1 - Math.exp(-distance * this.scene.haze.perMetre);
    const paint = this.paintBuffer;
    for (let row = first; row < foot; row++) {
      if ((this.hidden[row] as number) > 0.99) continue;
      const above = eyeHeight + distance * (this.tangents[row] as number) - ground;
      const opacity = props.paint(paint, above, pixelMetres) * Math.min(1, foot - row);
      if (opacity < 0.004) continue;
      cover(paint, this.air, fog);
      const open = 1 - (this.hidden[row] as number);
      const covered = opacity * open * weight;
      const at = row * 3;
      light[at] = (light[at] as number) + paint[0] * covered;
      light[at + 1] = (light[at + 1] as number) + paint[1] * covered;
      light[at + 2] = (light[at + 2] as number) + paint[2] * covered;
      this.open[row] = (this.open[row] as number) - covered;
      this.hidden[row] = (this.hidden[row] as number) + opacity * open;
    }
  }

  private readonly paintBuffer: Paint = [0, 0, 0];
}
