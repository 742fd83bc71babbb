import { cover, type Paint, shine } from "./colour.js";
import { AT2_MAX, clamp01, mix, Noise, smoothstep } from "./noise.js";
import type { Scene, Water } from "./scene.js";
import type { Sky } from "./sky.js";

/** What the distance of the water in a row alone decides. Lengths are in metres, angles in radians. */
type WaterRow = {
  distance: number;
  sine: number;
  elevation: number;
  /** How much of the waves is visible, from the longest to the shortest, and of those across. */
  swellSeen: number;
  ripplesSeen: number;
  acrossSeen: number;
  blurring: number;
  depth: number;
  fog: number;
};

/** Still or rough water: reflects what is above it in the same direction, and glitters towards the sun. */
export class WaterPainter {
  private readonly scene: Scene;
  private readonly water: Water;
  private readonly sky: Sky;
  private readonly eyeHeight: number;
  private readonly noise: Noise;
  private readonly paintBuffer: Paint = [0, 0, 0];
  private readonly own: Paint = [0, 0, 0];
  /** The light that water scatters back. */
  private readonly ambient: Paint;
  private readonly waterRows: WaterRow[];

  constructor(scene: Scene, water: Water, sky: Sky, eyeHeight: number, rows: number) {
    this.scene = scene;
    this.water = water;
    this.sky = sky;
    this.eyeHeight = eyeHeight;
    this.noise = new Noise(scene.seed ^ 0x3a7e);
    const { sunlight, skylight } = scene.sky;
    const sunUp = Math.max(0.1, Math.sin(scene.light.elevation));
    this.ambient = [
      sunlight[0] * sunUp * 0.6 + skylight[0] * 1.1,
      sunlight[1] * sunUp * 0.6 + skylight[1] * 1.1,
      sunlight[2] * sunUp * 0.6 + skylight[2] * 1.1,
    ];
    this.waterRows = Array.from({ length: rows }, () => this.waterRowAt(Number.POSITIVE_INFINITY));
  }

  /**
   * Adds the water that covers `share` of a row of the column in the direction (right, ahead). The rows above the horizon
   * must be painted before. `air`: the colour into which far water fades.
   */
  paint(
    light: Float32Array,
    open: Float32Array,
    air: Paint,
    row: number,
    share: number,
    distance: number,
    right: number,
    ahead: number,
  ): void {
    const { noise, water } = this;
    const rows = light.length / 3;
    const x = right * distance;
    const z = ahead * distance;
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
    const blur = rough * 0.05 * waterRow.blurring + 0.002;
    this.mirrored(paint, light, rows, Math.abs(elevation), blur);

    // Seen from above, water shows its own colour, lit by the ambient light.
    const { deep, shallow } = water;
    const { own, ambient } = this;
    const clear = 0.35 * waterRow.depth + 0.5 * clamp01(0.5 + slope * 2);
    own[0] = mix(deep[0], shallow[0], clear) * ambient[0];
    own[1] = mix(deep[1], shallow[1], clear) * ambient[1];
    own[2] = mix(deep[2], shallow[2], clear) * ambient[2];
    cover(paint, own, 1 - fresnel);

    // Where the sun is hidden, there is no glitter.
    const shown = this.scene.light.body === "hidden" ? 0 : (open[rowAt(elevation, rows)] as number);
    if (shown !== 0) this.addGlitter(paint, x, z, right, ahead, elevation, rough, waterRow.acrossSeen, shown, fresnel);
    cover(paint, air, waterRow.fog);
    const at = row * 3;
    light[at] = (light[at] as number) + paint[0] * share;
    light[at + 1] = (light[at + 1] as number) + paint[1] * share;
    light[at + 2] = (light[at + 2] as number) + paint[2] * share;
  }

  /** Glitter: facets that face half-way between viewer and sun. */
  private addGlitter(
    paint: Paint,
    x: number,
    z: number,
    right: number,
    ahead: number,
    elevation: number,
    rough: number,
    acrossSeen: number,
    shown: number,
    fresnel: number,
  ): void {
    const width = 0.035 + 0.12 * rough;
    const level = Math.cos(elevation);
    const up = Math.sin(Math.abs(elevation));
    // Whatever the waves across are, beyond seven widths (cos a > 1 - a * a / 2) the glitter is far too weak to be seen.
    const cosineMax = this.sky.cosineToLight(right * level, up, ahead * level) + rough * 0.5 * AT2_MAX;
    if (cosineMax <= 1 - 24.5 * width * width) return;
    const across = acrossSeen > 0 ? this.noise.fractal2(x / 3.1 - 40, z / 3.1, 3) * acrossSeen : 0;
    const normalAcross = rough * across * 0.5;
    const glint = this.sky.angleToLight(right * level + ahead * normalAcross, up, ahead * level - right * normalAcross);
    const { glow, glowStrength } = this.scene.sky;
    shine(paint, glow, 1.5 * shown * glowStrength * Math.exp(-((glint / width) ** 2)) * (0.3 + fresnel));
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
    return {
      distance,
      sine,
      elevation: Math.asin(sine),
      swellSeen: smoothstep(1600, 200, away),
      ripplesSeen: smoothstep(260, 40, away),
      acrossSeen: smoothstep(700, 80, away),
      blurring: smoothstep(30, 900, away),
      depth: smoothstep(0.1, 0.9, sine),
      fog: 0.9 * (1 - Math.exp(-away * this.scene.haze.perMetre)),
    };
  }

  private mirrored(paint: Paint, light: Float32Array, rows: number, elevation: number, blur: number): void {
    let red = 0;
    let green = 0;
    let blue = 0;
    for (let tap = -1.5; tap <= 1.5; tap++) {
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
    paint[0] = red / 4;
    paint[1] = green / 4;
    paint[2] = blue / 4;
  }
}

const rowAt = (elevation: number, rows: number): number =>
  Math.min(Math.floor((0.5 - Math.min(Math.abs(elevation), Math.PI / 2) / Math.PI) * rows), Math.floor(rows / 2) - 1);
