import { Aurora } from "./aurora.js";
import { Celestial } from "./celestial.js";
import { Clouds } from "./clouds.js";
import { cover, type Paint, type Rgb, shine } from "./colour.js";
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
  private readonly celestial: Celestial;
  private readonly clouds: Clouds;
  private readonly aurora: Aurora;
  private readonly lightning: Lightning;
  private readonly edge: number;

  constructor(scene: Scene, pixelRadians: number) {
    const { azimuth, elevation } = scene.light;
    this.scene = scene;
    this.towardsSun = tableOf(scene.sky.towardsSun);
    this.awayFromSun = tableOf(scene.sky.awayFromSun);
    this.lightX = Math.sin(azimuth) * Math.cos(elevation);
    this.lightY = Math.sin(elevation);
    this.lightZ = Math.cos(azimuth) * Math.cos(elevation);
    this.celestial = new Celestial(scene, pixelRadians);
    this.clouds = new Clouds(scene, this.lightX, this.lightZ);
    this.aurora = new Aurora(scene.seed);
    this.lightning = new Lightning(scene.seed, scene.light.azimuth);
    this.edge = pixelRadians;
  }

  paint(paint: Paint, x: number, y: number, z: number): void {
    const { scene } = this;
    this.paintAir(paint, x, y, z);
    if (scene.stars > 0 || scene.nebula > 0 || scene.planets) this.paintBehindAir(paint, x, y, z);
    if (scene.aurora > 0) this.aurora.paint(paint, x, y, z, scene.aurora);
    this.paintLight(paint, x, y, z);
    this.clouds.paint(paint, x, y, z, this.angleToLight(x, y, z));
    if (scene.lightning) this.lightning.paint(paint, x, y, z);
    if (scene.haze.thick > 0) {
      const air: Paint = [0, 0, 0];
      this.paintAir(air, x, 0.02, z);
      cover(paint, air, scene.haze.thick * Math.exp(-Math.max(0, y) * 2.6));
    }
  }

  /** The colour of the air alone, into which far land fades. */
  paintAir(paint: Paint, x: number, y: number, z: number): void {
    const elevation = Math.asin(y < 0 ? 0 : y > 1 ? 1 : y);
    const position = (elevation / (Math.PI / 2)) * TABLE_STEPS;
    const step = Math.min(position | 0, TABLE_STEPS - 1);
    const between = position - step;
    const level = Math.hypot(this.lightX, this.lightZ) || 1;
    const side = 0.5 + (0.5 * (x * this.lightX + z * this.lightZ)) / level;
    const sun = side * side * (3 - 2 * side);
    const at = step * 3;
    for (let channel = 0; channel < 3; channel++) {
      const here = at + channel;
      const lit = lerpIn(this.towardsSun, here, between);
      const dark = lerpIn(this.awayFromSun, here, between);
      paint[channel] = dark + (lit - dark) * sun;
    }
    if (this.scene.land === undefined) return;
    const angle = this.angleToLight(x, y, z);
    const glow = 0.75 * Math.exp(-angle * 15) + 0.3 * Math.exp(-angle * 5) + 0.1 * Math.exp(-angle * 1.7);
    shine(paint, this.scene.sky.glow, glow * this.scene.sky.glowStrength);
  }

  angleToLight(x: number, y: number, z: number): number {
    const cosine = x * this.lightX + y * this.lightY + z * this.lightZ;
    return Math.acos(cosine > 1 ? 1 : cosine < -1 ? -1 : cosine);
  }

  private paintBehindAir(paint: Paint, x: number, y: number, z: number): void {
    const far: Paint = [0, 0, 0];
    this.celestial.paint(far, x, y, z);
    // Near the horizon there is more air in between; scenes without land have no air.
    const seen = this.scene.land === undefined ? 1 : smoothstep(-0.02, 0.3, y);
    shine(paint, far, seen);
  }

  private paintLight(paint: Paint, x: number, y: number, z: number): void {
    const { body, elevation } = this.scene.light;
    if (body === "hidden") return;
    const angle = this.angleToLight(x, y, z);
    if (body === "sun") {
      const radius = elevation < 0.2 ? SUN_RADIUS * 1.5 : SUN_RADIUS;
      cover(paint, SUN_DISC, 1 - smoothstep(radius - this.edge, radius + this.edge, angle));
      return;
    }
    if (angle > MOON_RADIUS + 2 * this.edge) return;
    // The moon: soft dark maria on a pale disc that is slightly darker towards its edge.
    const seas = this.clouds.noise.fractal3(x * 60, y * 60, z * 60, 5);
    const brightness = 1.05 - 0.55 * smoothstep(-0.05, 0.3, seas) - 0.25 * (angle / MOON_RADIUS) ** 2;
    const face: Rgb = [brightness, brightness * 0.985, brightness * 0.93];
    cover(paint, face, 1 - smoothstep(MOON_RADIUS - this.edge, MOON_RADIUS + this.edge, angle));
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
