import { colour, mixed, type Paint, shine } from "./colour.js";
import { Noise, smoothstep } from "./noise.js";

const LAYERS = 22;
const GREEN = colour("#3dff9a");
const TEAL = colour("#2ad0c8");
const VIOLET = colour("#b05cff");

/** The aurora: bands on a plane overhead, extended upwards layer by layer. */
export class Aurora {
  private readonly noise: Noise;

  constructor(seed: number) {
    this.noise = new Noise(seed ^ 0xa0a0);
  }

  paint(paint: Paint, x: number, y: number, z: number, strength: number): void {
    if (y < 0.02) return;
    const { noise } = this;
    const seen = smoothstep(0.02, 0.22, y);
    for (let layer = 0; layer < LAYERS; layer++) {
      const height = layer / LAYERS;
      const reach = (0.8 + 0.55 * height) / (y + 0.22);
      const px = x * reach;
      const pz = z * reach;
      const bend = noise.at2(px * 0.5 + 3, pz * 0.5);
      const fold = noise.at2(px * 1.7 - 8, pz * 1.7 + 2 * bend);
      const band = Math.abs(Math.sin(pz * 1.5 + px * 0.5 + 2.6 * bend + 0.7 * fold));
      if (band > 0.42) continue;
      const curtain = Math.exp(-band * 11);
      if (curtain < 0.01) continue;
      const rays = 0.55 + 0.9 * noise.at2(px * 7 + 5, pz * 7);
      const gaps = smoothstep(-0.35, 0.35, noise.at2(px * 0.4 + 20, pz * 0.4));
      const hue = height < 0.45 ? mixed(GREEN, TEAL, height / 0.45) : mixed(TEAL, VIOLET, (height - 0.45) / 0.55);
      const light = curtain * Math.max(0, rays) * gaps * Math.exp(-height * 2.3) * seen;
      shine(paint, hue, (light * strength * 3.4) / LAYERS);
    }
  }
}
