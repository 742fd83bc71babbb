import { cover, type Paint, type Ray } from "./colour.js";
import { clamp01, mix, Noise, smoothstep } from "./noise.js";
import type { Scene } from "./scene.js";

/** Two layers of cloud on a wide, shallow dome: cumulus clouds with shading, and thin cirrus clouds above. */
export class Clouds {
  readonly noise: Noise;
  private readonly scene: Scene;
  private readonly lightX: number;
  private readonly lightZ: number;
  /** For each row: how far away each dome is, and how much of the layer is seen through the air. */
  private readonly cirrusReach: Float64Array;
  private readonly cirrusSeen: Float64Array;
  private readonly heapsReach: Float64Array;
  private readonly heapsSeen: Float64Array;
  private readonly heapsHazy: Float64Array;
  /** For each row, the octaves of the cumulus clouds. Fewer far away: detail finer than a pixel would alias. */
  private readonly heapsOctaves: Float64Array;
  private readonly lit: Paint = [0, 0, 0];
  private readonly shadow: Paint = [0, 0, 0];

  /** `rowsUp`: the height of each row's middle on the unit sphere. */
  constructor(scene: Scene, lightX: number, lightZ: number, rowsUp: Float64Array) {
    this.scene = scene;
    this.noise = new Noise(scene.seed ^ 0xc10d);
    this.lightX = lightX;
    this.lightZ = lightZ;
    this.cirrusReach = rowsUp.map((up) => 1 / (up + 0.16));
    this.cirrusSeen = rowsUp.map((up) => smoothstep(0.02, 0.22, up));
    this.heapsReach = rowsUp.map((up) => 1 / (up + 0.11));
    this.heapsSeen = rowsUp.map((up) => smoothstep(0.004, 0.07, up));
    this.heapsHazy = rowsUp.map((up) => 0.72 * (1 - smoothstep(0, 0.2, up)));
    this.heapsOctaves = this.heapsReach.map((reach) => Math.min(7, 6.2 - Math.log2(reach / 2.4)));
  }

  paint(paint: Paint, ray: Ray): void {
    if (ray.y <= 0.004) return;
    if (this.scene.cirrus > 0) this.paintCirrus(paint, ray);
    if (this.scene.clouds > 0) this.paintHeaps(paint, ray);
  }

  private paintCirrus(paint: Paint, ray: Ray): void {
    const seen = this.cirrusSeen[ray.row] as number;
    if (seen === 0) return;
    const reach = this.cirrusReach[ray.row] as number;
    const px = ray.x * reach * 0.5 + 11;
    const pz = ray.z * reach * 1.25 - 4;
    const bend = this.noise.fractal2(px * 0.8, pz * 0.8, 2);
    const wisps = this.noise.fractal2(px + 0.6 * bend, pz + 0.9 * bend, 5, -0.02);
    if (wisps <= -0.02) return;
    const opacity = smoothstep(-0.02, 0.42, wisps) * this.scene.cirrus * seen;
    const { cloudLit, glow } = this.scene.sky;
    const near = Math.exp(-ray.angleToLight * 2.2);
    const { lit } = this;
    lit[0] = cloudLit[0] + glow[0] * near * 0.5;
    lit[1] = cloudLit[1] + glow[1] * near * 0.5;
    lit[2] = cloudLit[2] + glow[2] * near * 0.5;
    cover(paint, lit, 0.62 * opacity);
  }

  private paintHeaps(paint: Paint, ray: Ray): void {
    const { clouds, sky } = this.scene;
    const reach = this.heapsReach[ray.row] as number;
    const px = ray.x * reach * 0.62;
    const pz = ray.z * reach * 0.62;
    const octaves = this.heapsOctaves[ray.row] as number;
    const threshold = mix(0.36, -0.34, clouds);
    const here = this.density(px, pz, octaves, threshold);
    const body = smoothstep(threshold, threshold + 0.2, here);
    if (body <= 0.002) return;
    const step = 0.13;
    const sunward = this.density(
      px + this.lightX * step,
      pz + this.lightZ * step,
      Math.min(octaves, 4),
      Number.NEGATIVE_INFINITY,
    );
    const slope = clamp01(0.56 + 2.1 * (here - sunward));
    const thick = smoothstep(threshold + 0.12, threshold + 0.75, here);
    const near = Math.exp(-ray.angleToLight * 2.4);
    const lit = clamp01(slope * (1 - 0.62 * thick) + 0.12);
    const rim = near * (1 - body) * 1.6 + near * 0.35 * (1 - thick);
    const { cloudLit, cloudShade, glow } = sky;
    const { shadow } = this;
    shadow[0] = mix(cloudShade[0], cloudLit[0], lit) + glow[0] * rim;
    shadow[1] = mix(cloudShade[1], cloudLit[1], lit) + glow[1] * rim;
    shadow[2] = mix(cloudShade[2], cloudLit[2], lit) + glow[2] * rim;
    // Far clouds fade into the colour of the air in front of them.
    cover(shadow, paint, this.heapsHazy[ray.row] as number);
    cover(paint, shadow, body * (this.heapsSeen[ray.row] as number) * (0.9 + 0.1 * thick));
  }

  /** The caller treats all densities up to `floor` alike. */
  private density(px: number, pz: number, octaves: number, floor: number): number {
    const { noise } = this;
    const billow = noise.fractal2(px * 0.55 + 31, pz * 0.55 - 8, 2);
    return 0.5 * billow + noise.fractal2(px + 0.5 * billow, pz - 0.4 * billow, octaves, floor - 0.5 * billow);
  }
}
