import { Aurora } from "./aurora.js";
import { Celestial } from "./celestial.js";
import { Clouds } from "./clouds.js";
import { cover, type Paint, type Ray, type Rgb, shine } from "./colour.js";
import { Lightning } from "./lightning.js";
import { smoothstep } from "./noise.js";
import type { Scene } from "./scene.js";
import type { Gradient } from "./sky-palettes.js";

/** The elevation in radians at which each colour of a gradient is strongest, and how far it extends. */
const STOPS = [0, 0.16, 0.62, 1.5] as const;
const REACHES = [0.11, 0.22, 0.42, 0.62] as const;
const TABLE_STEPS = 1024;
const SUN_RADIUS = 0.016;
const MOON_RADIUS = 0.03;

/** Everything above the horizon, by direction. */
export class Sky {
  private readonly scene: Scene;
  private readonly towardsSun: Float32Array;
  private readonly awayFromSun: Float32Array;
  private readonly lightX: number;
  private readonly lightY: number;
  private readonly lightZ: number;
  /** The length of the horizontal part of the direction to the light. */
  private readonly lightLevel: number;
  /** The two ends of the air's colour for each row of the picture, and for one other height; see `mixAir`. */
  private readonly rowAir: Float64Array;
  private readonly otherAir = new Float64Array(6);
  private readonly otherRay: Ray = { row: 0, x: 0, y: Number.NaN, z: 0, angleToLight: 0 };
  /** For each row, how much light from beyond the air is seen, and how much of the sky is hidden by thick haze. */
  private readonly rowSeen: Float64Array;
  private readonly rowThick: Float64Array;
  private readonly far: Paint = [0, 0, 0];
  private readonly haze: Paint = [0, 0, 0];
  private readonly moonFace: Paint = [0, 0, 0];
  private readonly celestial: Celestial;
  private readonly clouds: Clouds;
  private readonly aurora: Aurora;
  private readonly lightning: Lightning;
  private readonly edge: number;

  /** `rowsUp`: the height of each row's middle on the unit sphere. */
  constructor(scene: Scene, pixelRadians: number, rowsUp: Float64Array) {
    const { azimuth, elevation } = scene.light;
    this.scene = scene;
    this.towardsSun = tableOf(scene.sky.towardsSun);
    this.awayFromSun = tableOf(scene.sky.awayFromSun);
    this.lightX = Math.sin(azimuth) * Math.cos(elevation);
    this.lightY = Math.sin(elevation);
    this.lightZ = Math.cos(azimuth) * Math.cos(elevation);
    this.lightLevel = Math.hypot(this.lightX, this.lightZ) || 1;
    this.rowAir = new Float64Array(rowsUp.length * 6);
    for (const [row, up] of rowsUp.entries()) this.mixAir(this.rowAir, row * 6, up);
    // Near the horizon there is more air in between; scenes without land have no air.
    this.rowSeen = rowsUp.map((up) => (scene.land === undefined ? 1 : smoothstep(-0.02, 0.3, up)));
    this.rowThick = rowsUp.map((up) => scene.haze.thick * Math.exp(-Math.max(0, up) * 2.6));
    this.celestial = new Celestial(scene, pixelRadians);
    this.clouds = new Clouds(scene, this.lightX, this.lightZ, rowsUp);
    this.aurora = new Aurora(scene.seed);
    this.lightning = new Lightning(scene.seed);
    this.edge = pixelRadians;
  }

  /** Sets `ray.angleToLight`. */
  paint(paint: Paint, ray: Ray): void {
    const { scene } = this;
    ray.angleToLight = this.angleToLight(ray.x, ray.y, ray.z);
    this.lightAir(paint, this.rowAir, ray);
    if (scene.stars > 0 || scene.nebula > 0 || scene.planets !== "none") this.paintBehindAir(paint, ray);
    if (scene.aurora > 0) this.aurora.paint(paint, ray, scene.aurora);
    if (scene.light.body !== "hidden") this.paintLight(paint, ray);
    this.clouds.paint(paint, ray);
    if (scene.lightning) this.lightning.paint(paint, ray);
    if (scene.haze.thick > 0) {
      this.paintAir(this.haze, ray.x, 0.02, ray.z);
      cover(paint, this.haze, this.rowThick[ray.row] as number);
    }
  }

  /** The colour of the air alone, into which far land fades. */
  paintAir(paint: Paint, x: number, y: number, z: number): void {
    const ray = this.otherRay;
    if (y !== ray.y) this.mixAir(this.otherAir, 0, y);
    ray.x = x;
    ray.y = y;
    ray.z = z;
    ray.angleToLight = this.angleToLight(x, y, z);
    this.lightAir(paint, this.otherAir, ray);
  }

  /**
   * Writes what depends only on the height `y`: the colour of the air away from the sun (three numbers), and what is
   * added to that towards the sun (three more).
   */
  private mixAir(air: Float64Array, at: number, y: number): void {
    const elevation = Math.asin(y < 0 ? 0 : y > 1 ? 1 : y);
    const position = (elevation / (Math.PI / 2)) * TABLE_STEPS;
    const step = Math.min(position | 0, TABLE_STEPS - 1);
    const between = position - step;
    for (let channel = 0; channel < 3; channel++) {
      const here = step * 3 + channel;
      const dark = lerpIn(this.awayFromSun, here, between);
      air[at + channel] = dark;
      air[at + 3 + channel] = lerpIn(this.towardsSun, here, between) - dark;
    }
  }

  /** The colour of mixed air in a horizontal direction, with the glow around the light. */
  private lightAir(paint: Paint, air: Float64Array, { row, x, z, angleToLight }: Ray): void {
    const at = row * 6;
    const side = 0.5 + (0.5 * (x * this.lightX + z * this.lightZ)) / this.lightLevel;
    const sun = side * side * (3 - 2 * side);
    paint[0] = (air[at] as number) + (air[at + 3] as number) * sun;
    paint[1] = (air[at + 1] as number) + (air[at + 4] as number) * sun;
    paint[2] = (air[at + 2] as number) + (air[at + 5] as number) * sun;
    const { land, haze } = this.scene;
    if (land === undefined) return;
    const { glow, glowStrength } = this.scene.sky;
    const wide = Math.exp(-angleToLight * 5);
    const bright = 0.75 * wide * wide * wide + 0.3 * wide + 0.1 * Math.exp(-angleToLight * 1.7);
    // Fog scatters the light of a low sun: a bright pillar down to the viewer's feet would be wrong.
    shine(paint, glow, bright * glowStrength * (haze.thick > 0.5 ? 0.35 : 1));
  }

  angleToLight(x: number, y: number, z: number): number {
    const cosine = this.cosineToLight(x, y, z);
    return Math.acos(cosine > 1 ? 1 : cosine < -1 ? -1 : cosine);
  }

  cosineToLight(x: number, y: number, z: number): number {
    return x * this.lightX + y * this.lightY + z * this.lightZ;
  }

  private paintBehindAir(paint: Paint, ray: Ray): void {
    const seen = this.rowSeen[ray.row] as number;
    if (seen === 0) return;
    const { far } = this;
    far[0] = far[1] = far[2] = 0;
    this.celestial.paint(far, ray);
    shine(paint, far, seen);
  }

  private paintLight(paint: Paint, ray: Ray): void {
    const { body, elevation } = this.scene.light;
    const { edge } = this;
    const angle = ray.angleToLight;
    if (body === "sun") {
      const radius = elevation < 0.2 ? SUN_RADIUS * 1.5 : SUN_RADIUS;
      if (angle > radius + edge) return;
      cover(paint, SUN_DISC, 1 - smoothstep(radius - edge, radius + edge, angle));
      return;
    }
    if (angle > MOON_RADIUS + 2 * edge) return;
    // The moon: soft dark maria on a pale disc that is slightly darker towards its edge.
    const seas = this.clouds.noise.fractal3(ray.x * 60, ray.y * 60, ray.z * 60, 5);
    const brightness = 1.05 - 0.55 * smoothstep(-0.05, 0.3, seas) - 0.25 * (angle / MOON_RADIUS) ** 2;
    const face = this.moonFace;
    face[0] = brightness;
    face[1] = brightness * 0.985;
    face[2] = brightness * 0.93;
    cover(paint, face, 1 - smoothstep(MOON_RADIUS - edge, MOON_RADIUS + edge, angle));
  }
}

const SUN_DISC: Rgb = [5.5, 5.2, 4.4];

const lerpIn = (table: Float32Array, index: number, between: number): number => {
  const here = table[index] as number;
  return here + ((table[index + 3] as number) - here) * between;
};

/** The gradient from the horizon (first) to the zenith. It is smooth: linear pieces would show edges. */
const tableOf = (gradient: Gradient): Float32Array => {
  const table = new Float32Array((TABLE_STEPS + 2) * 3);
  for (let step = 0; step < TABLE_STEPS + 2; step++) {
    const elevation = (step / TABLE_STEPS) * (Math.PI / 2);
    const weights = STOPS.map((stop, index) => Math.exp(-(((elevation - stop) / (REACHES[index] ?? 1)) ** 2)) + 1e-9);
    const sum = weights.reduce((total, weight) => total + weight, 0);
    for (let channel = 0; channel < 3; channel++) {
      const value = gradient.reduce((total, stop, index) => total + (stop[channel] ?? 0) * (weights[index] ?? 0), 0);
      table[step * 3 + channel] = value / sum;
    }
  }
  return table;
};
