import type { PixelSize } from "../../../../domain/images/resolution.js";
import { addToRow, cover, type Paint, type Rgb } from "./colour.js";
import { GroundPainter, type GroundSpot, Terrain } from "./land.js";
import { Props } from "./props.js";
import type { Land, Scene } from "./scene.js";
import type { Sky } from "./sky.js";
import { WaterPainter } from "./water.js";

/** Below this width two directions are painted per column, so that upright edges are anti-aliased. */
const FINE_WIDTH = 2000;
/** Work of a column: about its time of a processor. */
export const raysPerColumn = (size: PixelSize): number => size.heightPixels * walksPerColumn(size);
const walksPerColumn = ({ widthPixels }: PixelSize): number => (widthPixels < FINE_WIDTH ? 2 : 1);
/** A rise below this share of a row is merged with the next one. */
const ROWS_MIN = 0.3;
const DISTANCE_MAX = 42_000;
const DARK: Rgb = [0, 0, 0];

/** A step of a walk. Two objects are reused for all steps, see `Ray`. */
type Step = {
  distance: number;
  octaves: number;
  /** The height of the ground, and of the ground or the water above it. */
  height: number;
  surface: number;
  isWet: boolean;
  /** Behind nearer ground: then the height and the row are not exact. */
  isHidden: boolean;
  row: number;
};

type GroundView = {
  readonly scene: Scene;
  readonly land: Land;
  readonly size: PixelSize;
  readonly sky: Sky;
  /** The column that is painted, see `ColumnPainter`. */
  readonly light: Float32Array;
};

/**
 * Walks over the ground from the viewer to the far mountains, once for each direction, and paints each piece that rises
 * above all nearer ones. It computes exactly how much of a row is covered, so ridges are anti-aliased.
 */
export class GroundColumn {
  /** For each row, the share that the ground does not cover. */
  readonly open: Float32Array;
  private readonly light: Float32Array;
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
  private readonly air: Paint = [0, 0, 0];
  private readonly paintBuffer: Paint = [0, 0, 0];
  private readonly spot: GroundSpot = { x: 0, z: 0, height: 0, distance: 0 };
  private readonly steps: readonly [Step, Step] = [firstStep(), firstStep()];
  /** Of the current walk: its direction, and its share of the column. */
  private azimuth = 0;
  private right = 0;
  private ahead = 0;
  private weight = 1;
  /** For each row, the share that props hide from everything behind them, in the current walk. */
  private readonly hidden: Float32Array;
  /** The upper end of the ground so far. Farther ground is hidden if it rises less than this per metre of distance. */
  private top = 0;
  private hiddenRise = 0;
  /** The distance of the last prop, whose shadow lies around it. */
  private shadowMetres = 0;

  constructor({ scene, land, size, sky, light }: GroundView) {
    const { heightPixels } = size;
    this.size = size;
    this.scene = scene;
    this.sky = sky;
    this.light = light;
    this.open = new Float32Array(heightPixels);
    const pixelRadians = Math.PI / heightPixels;
    this.terrain = new Terrain(scene, land, pixelRadians);
    this.groundPainter = new GroundPainter(scene, land, this.terrain);
    this.props = land.props === undefined ? undefined : new Props(scene, land.props);
    const { open } = this;
    const { eyeHeight } = this.terrain;
    this.water =
      land.water === undefined
        ? undefined
        : new WaterPainter({ scene, water: land.water, sky, eyeHeight, light, open });
    this.waterShare = new Float32Array(heightPixels);
    this.waterDistance = new Float32Array(heightPixels);
    this.hidden = new Float32Array(heightPixels);
    this.tangents = new Float64Array(heightPixels).map((_, row) =>
      Math.tan((0.5 - (row + 0.5) / heightPixels) * Math.PI),
    );
    const distances: number[] = [];
    const first = 0.03 * land.eyeMetres;
    for (let distance = first; distance < DISTANCE_MAX; distance += first + (0.01 + pixelRadians) * distance)
      distances.push(distance);
    this.distances = Float64Array.from(distances);
    this.octaves = this.distances.map((distance) => this.terrain.octavesAt(distance));
  }

  paint(column: number): void {
    const { open, waterShare, waterDistance } = this;
    const { widthPixels } = this.size;
    open.fill(1);
    waterShare.fill(0);
    waterDistance.fill(0);
    const walks = walksPerColumn(this.size);
    for (let walk = 0; walk < walks; walk++) {
      this.walk(((column + (walk + 0.5) / walks) / widthPixels) * 2 * Math.PI - Math.PI, 1 / walks);
    }
  }

  /** The direction of the column's middle is (right, ahead). The sky must be painted before. */
  paintWater(right: number, ahead: number): void {
    if (this.water === undefined) return;
    this.water.beginColumn(right, ahead);
    for (let row = 0; row < this.waterShare.length; row++) {
      const share = this.waterShare[row] as number;
      if (share < 0.002) continue;
      this.water.paint(row, share, (this.waterDistance[row] as number) / share);
    }
  }

  private walk(azimuth: number, weight: number): void {
    const { terrain, distances, octaves, props } = this;
    let [last, here] = this.steps;
    this.begin(azimuth, weight, last);
    const highest = terrain.top + (props?.heightMetres ?? 0);
    let ring = 0;
    for (let index = 0; index < distances.length && this.top > 0; index++) {
      here.distance = distances[index] as number;
      here.octaves = octaves[index] as number;
      if (index % 16 === 0 && this.rowOf(highest, here.distance) >= this.top) break;
      const isRing = props !== undefined && here.distance >= (props.rings[ring] ?? DISTANCE_MAX);
      // Objects on hidden ground may be visible.
      this.enter(here, isRing ? Number.NEGATIVE_INFINITY : terrain.eyeHeight + here.distance * this.hiddenRise);
      if (here.row < this.top - ROWS_MIN) this.paintRise(last, here);
      if (props !== undefined && isRing) this.paintRing(props, ring++, here);
      const free = last;
      last = here;
      here = free;
    }
  }

  /** Sets `start` to the place of the viewer. */
  private begin(azimuth: number, weight: number, start: Step): void {
    this.azimuth = azimuth;
    this.weight = weight;
    this.right = Math.sin(azimuth);
    this.ahead = Math.cos(azimuth);
    this.sky.paintAir(this.air, this.right * 0.999, 0.035, this.ahead * 0.999);
    this.hidden.fill(0);
    this.shadowMetres = Number.NEGATIVE_INFINITY;
    this.raiseTop(this.size.heightPixels);
    start.distance = 0;
    start.octaves = 9;
    this.enter(start, Number.NEGATIVE_INFINITY);
    start.row = this.size.heightPixels;
  }

  private raiseTop(row: number): void {
    this.top = row;
    // The margin is for rounding.
    this.hiddenRise = Math.tan((0.5 - (row - ROWS_MIN) / this.size.heightPixels) * Math.PI) - 1e-9;
  }

  /** Looks at the ground at the step's distance. Ground up to the height `floor` is hidden. */
  private enter(step: Step, floor: number): void {
    const { distance } = step;
    step.height = this.terrain.height(this.right * distance, this.ahead * distance, step.octaves, floor);
    step.isWet = this.water !== undefined && step.height < 0;
    step.surface = step.isWet ? 0 : step.height;
    step.isHidden = step.surface <= floor;
    step.row = step.isHidden ? this.size.heightPixels : this.rowOf(step.surface, distance);
  }

  private rowOf(height: number, distance: number): number {
    return (0.5 - Math.atan2(height - this.terrain.eyeHeight, distance) / Math.PI) * this.size.heightPixels;
  }

  /** Paints what rises above all nearer ground between two steps. */
  private paintRise(last: Step, here: Step): void {
    if (last.isHidden) this.enter(last, Number.NEGATIVE_INFINITY);
    const { top } = this;
    const rise = Math.max(last.row - here.row, 1e-6);
    for (let pixel = Math.ceil(top) - 1; pixel >= 0 && pixel + 1 > here.row; pixel--) {
      const from = Math.max(pixel, here.row);
      const to = Math.min(pixel + 1, top);
      const share = (last.row - (from + to) / 2) / rise;
      const distance = last.distance + (here.distance - last.distance) * (share < 0 ? 0 : share);
      const covered = (to - from) * this.weight * (1 - (this.hidden[pixel] as number));
      if (covered === 0) continue;
      if (here.isWet) {
        this.waterShare[pixel] = (this.waterShare[pixel] as number) + covered;
        this.waterDistance[pixel] = (this.waterDistance[pixel] as number) + covered * distance;
      } else {
        this.paintGround(pixel, covered, distance, last.surface + (here.surface - last.surface) * share);
      }
      this.open[pixel] = (this.open[pixel] as number) - covered;
    }
    this.raiseTop(here.row);
  }

  /** `level`: the horizontal distance. */
  private paintGround(row: number, covered: number, level: number, height: number): void {
    const { spot, paintBuffer: paint } = this;
    const drop = height - this.terrain.eyeHeight;
    spot.x = this.right * level;
    spot.z = this.ahead * level;
    spot.height = height;
    spot.distance = Math.sqrt(level * level + drop * drop);
    this.groundPainter.paint(paint, spot);
    cover(paint, DARK, this.props?.shadowAt(level - this.shadowMetres) ?? 0);
    cover(paint, this.air, 1 - Math.exp(-spot.distance * this.scene.haze.perMetre));
    addToRow(this.light, row, paint, covered);
  }

  /** Paints the props of a ring. A prop may reach over its neighbours. */
  private paintRing(props: Props, ring: number, { distance, octaves, height }: Step): void {
    const groundAt = (azimuth: number) =>
      this.terrain.height(Math.sin(azimuth) * distance, Math.cos(azimuth) * distance, octaves);
    const { azimuth } = this;
    for (let side = -1; side <= 1; side++) {
      if (props.standsAt({ ring, side, azimuth, groundMetres: height, groundAt })) this.paintProp(props, distance);
    }
  }

  /** Darkens the ground around a prop: what is nearer is painted, what is farther follows in `paintGround`. */
  private paintShadow(props: Props, ground: number, distance: number): void {
    this.shadowMetres = distance;
    const drop = this.terrain.eyeHeight - ground;
    if (this.rowOf(ground, distance) > this.top + 1) return; // the foot is behind nearer ground
    for (let row = Math.floor(this.top); row < this.size.heightPixels; row++) {
      const level = -drop / (this.tangents[row] as number);
      const shadow = level > 0 ? props.shadowAt(distance - level) : 0;
      if (shadow === 0) return;
      const lit = 1 - shadow * this.weight * (1 - (this.hidden[row] as number));
      for (let at = row * 3; at < row * 3 + 3; at++) this.light[at] = (this.light[at] as number) * lit;
    }
  }

  /** Paints the visible part of what stands on the ground here. */
  private paintProp(props: Props, distance: number): void {
    const { eyeHeight } = this.terrain;
    const ground = props.footMetres;
    const first = Math.max(0, Math.floor(this.rowOf(ground + props.standingMetres, distance)));
    const foot = Math.min(this.top, this.rowOf(ground - props.sunkMetres, distance));
    this.paintShadow(props, ground, distance);
    const pixelMetres = (distance * Math.PI) / this.size.heightPixels;
    const fog = 1 - Math.exp(-distance * this.scene.haze.perMetre);
    const paint = this.paintBuffer;
    for (let row = first; row < foot; row++) {
      if ((this.hidden[row] as number) > 0.99) continue;
      const above = eyeHeight + distance * (this.tangents[row] as number) - ground;
      const opacity = props.paint(paint, above, pixelMetres) * Math.min(1, foot - row);
      if (opacity < 0.004) continue;
      cover(paint, this.air, fog);
      const open = 1 - (this.hidden[row] as number);
      const covered = opacity * open * this.weight;
      addToRow(this.light, row, paint, covered);
      this.open[row] = (this.open[row] as number) - covered;
      this.hidden[row] = (this.hidden[row] as number) + opacity * open;
    }
  }
}

const firstStep = (): Step => ({
  distance: 0,
  octaves: 0,
  height: 0,
  surface: 0,
  isWet: false,
  isHidden: false,
  row: 0,
});
