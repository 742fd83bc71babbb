import { addToRow, cover, type Paint, shine } from "./colour.js";
import { AT2_MAX, clamp01, mix, Noise, smoothstep } from "./noise.js";
import type { Scene, Water } from "./scene.js";
import type { Sky } from "./sky.js";

/** Values that depend only on the distance of the water in a row. Lengths in metres, angles in radians. */
type WaterRow = {
  distance: number;
  sine: number;
  elevation: number;
  /** Visible share of the waves, from the longest to the shortest, and of those across. */
  swellSeen: number;
  ripplesSeen: number;
  acrossSeen: number;
  depth: number;
  fog: number;
};

type WaterView = {
  readonly scene: Scene;
  readonly water: Water;
  readonly sky: Sky;
  readonly eyeHeight: number;
  /** The column that is painted, see `ColumnPainter`; and for each row, the share that no ground covers. */
  readonly light: Float32Array;
  readonly open: Float32Array;
};

/** Still or rough water: reflects the sky above it in the same direction, and glitters towards the sun. */
export class WaterPainter {
  private readonly scene: Scene;
  private readonly water: Water;
  private readonly sky: Sky;
  private readonly eyeHeight: number;
  private readonly light: Float32Array;
  private readonly open: Float32Array;
  private readonly noise: Noise;
  private readonly paintBuffer: Paint = [0, 0, 0];
  private readonly own: Paint = [0, 0, 0];
  /** The light that water scatters back. */
  private readonly ambient: Paint;
  private readonly waterRows: WaterRow[];
  /** The colour into which far water fades. */
  private readonly air: Paint = [0, 0, 0];
  /** The direction of the column. */
  private right = 0;
  private ahead = 0;

  constructor({ scene, water, sky, eyeHeight, light, open }: WaterView) {
    this.scene = scene;
    this.water = water;
    this.sky = sky;
    this.eyeHeight = eyeHeight;
    this.light = light;
    this.open = open;
    this.noise = new Noise(scene.seed ^ 0x3a7e);
    const { sunlight, skylight } = scene.sky;
    const sunUp = Math.max(0.1, Math.sin(scene.light.elevation));
    this.ambient = [
      sunlight[0] * sunUp * 0.6 + skylight[0] * 1.1,
      sunlight[1] * sunUp * 0.6 + skylight[1] * 1.1,
      sunlight[2] * sunUp * 0.6 + skylight[2] * 1.1,
    ];
    this.waterRows = Array.from({ length: open.length }, () => this.waterRowAt(Number.POSITIVE_INFINITY));
  }

  /** The next column is in the direction (right, ahead). Its rows above the horizon must be painted before. */
  beginColumn(right: number, ahead: number): void {
    this.right = right;
    this.ahead = ahead;
    this.sky.paintAir(this.air, right, 0.02, ahead);
  }

  /** Adds the water that covers `share` of a row of the column. */
  paint(row: number, share: number, distance: number): void {
    const { noise, water, open } = this;
    const x = this.right * distance;
    const z = this.ahead * distance;
    const waterRow = this.rowAtDistance(row, distance);
    const { sine } = waterRow;

    // Slopes of the waves, towards the viewer and across. Long waves stay visible far away, short ones fade.
    const swell = waterRow.swellSeen > 0 ? noise.fractal2(x / 9 + 3, z / 9, 3) * waterRow.swellSeen : 0;
    const ripples = waterRow.ripplesSeen > 0 ? noise.fractal2(x / 1.1, z / 1.1, 4) * waterRow.ripplesSeen : 0;
    const gusts = 0.55 + 0.9 * noise.fractal2(x / 160, z / 160, 3);
    const rough = water.roughness * clamp01(gusts);
    const slope = rough * (0.5 * swell + 0.5 * ripples);

    const elevation = waterRow.elevation + 2 * slope * 0.5;
    const grazing = 1 - clamp01(sine + 0.35 * slope + 0.05 * rough);
    const fresnel = 0.02 + 0.98 * grazing * grazing * grazing * grazing * grazing;
    const paint = this.paintBuffer;
    // Waves that are finer than a row blur what it reflects.
    const blur = rough * (0.08 - 0.05 * waterRow.swellSeen - 0.02 * waterRow.ripplesSeen) + 0.002;
    this.mirrored(paint, Math.abs(elevation), blur);

    // Seen from above, water shows its own colour, lit by the ambient light.
    const { deep, shallow } = water;
    const { own, ambient } = this;
    const clear = 0.35 * waterRow.depth + 0.5 * clamp01(0.5 + slope * 2);
    own[0] = mix(deep[0], shallow[0], clear) * ambient[0];
    own[1] = mix(deep[1], shallow[1], clear) * ambient[1];
    own[2] = mix(deep[2], shallow[2], clear) * ambient[2];
    cover(paint, own, 1 - fresnel);

    // Where the sun is hidden, there is no glitter.
    const shown = this.scene.light.body === "hidden" ? 0 : (open[rowAt(elevation, open.length)] as number);
    if (shown !== 0) {
      const { glow, glowStrength } = this.scene.sky;
      shine(paint, glow, 1.5 * shown * glowStrength * this.glitter(waterRow, elevation, rough) * (0.3 + fresnel));
    }
    cover(paint, this.air, waterRow.fog);
    addToRow(this.light, row, paint, share);
  }

  /** The share of facets that face half-way between viewer and sun. */
  private glitter({ distance, acrossSeen }: WaterRow, elevation: number, rough: number): number {
    const { right, ahead } = this;
    const width = 0.035 + 0.12 * rough;
    const level = Math.cos(elevation);
    const up = Math.sin(Math.abs(elevation));
    // Beyond seven widths (cos a > 1 - a * a / 2) the glitter is too weak to be seen, whatever the waves across are.
    const cosineMax = this.sky.cosineToLight(right * level, up, ahead * level) + rough * 0.5 * AT2_MAX;
    if (cosineMax <= 1 - 24.5 * width * width) return 0;
    const x = right * distance;
    const z = ahead * distance;
    const across = acrossSeen > 0 ? this.noise.fractal2(x / 3.1 - 40, z / 3.1, 3) * acrossSeen : 0;
    const normalAcross = rough * across * 0.5;
    const glint = this.sky.angleToLight(right * level + ahead * normalAcross, up, ahead * level - right * normalAcross);
    return Math.exp(-((glint / width) ** 2));
  }

  /** The water of a row is mostly as far away in the next column as in this one. */
  private rowAtDistance(row: number, distance: number): WaterRow {
    const last = this.waterRows[row] as WaterRow;
    if (last.distance === distance) return last;
    const next = this.waterRowAt(distance);
    this.waterRows[row] = next;
    return next;
  }

  private waterRowAt(distance: number): WaterRow {
    const away = Math.sqrt(distance * distance + this.eyeHeight * this.eyeHeight);
    const sine = this.eyeHeight / away;
    const rowMetres = (away / sine) * (Math.PI / this.open.length);
    return {
      distance,
      sine,
      elevation: Math.asin(sine),
      swellSeen: smoothstep(6, 1, rowMetres),
      ripplesSeen: smoothstep(0.6, 0.1, rowMetres),
      acrossSeen: smoothstep(700, 80, away),
      depth: smoothstep(0.1, 0.9, sine),
      fog: 0.9 * (1 - Math.exp(-away * this.scene.haze.perMetre)),
    };
  }

  private mirrored(paint: Paint, elevation: number, blur: number): void {
    const { light } = this;
    const rows = this.open.length;
    let red = 0;
    let green = 0;
    let blue = 0;
    for (let tap = -2.5; tap <= 2.5; tap++) {
      const seen = Math.min(Math.PI / 2, Math.abs(elevation + tap * blur));
      const position = Math.min(Math.max((0.5 - seen / Math.PI) * rows - 0.5, 0), rows / 2 - 1);
      const row = Math.floor(position);
      const below = position - row;
      const at = row * 3;
      const next = Math.min(at + 3, (rows / 2 - 1) * 3);
      red += mix(light[at] as number, light[next] as number, below);
      green += mix(light[at + 1] as number, light[next + 1] as number, below);
      blue += mix(light[at + 2] as number, light[next + 2] as number, below);
    }
    paint[0] = red / 6;
    paint[1] = green / 6;
    paint[2] = blue / 6;
  }
}

const rowAt = (elevation: number, rows: number): number =>
  Math.min(Math.floor((0.5 - Math.min(Math.abs(elevation), Math.PI / 2) / Math.PI) * rows), Math.floor(rows / 2) - 1);
