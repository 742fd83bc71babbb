import { colour, mixed, type Paint, type Ray, shine } from "./colour.js";
import { AT2_MAX, AT2_STEEPEST, Noise, smoothstep } from "./noise.js";

const GREEN = colour("#3dff9a");
const TEAL = colour("#2ad0c8");
const VIOLET = colour("#b05cff");

const LAYERS = Array.from({ length: 22 }, (_, layer) => {
  const height = layer / 22;
  return {
    distance: 0.8 + 0.55 * height,
    hue: height < 0.45 ? mixed(GREEN, TEAL, height / 0.45) : mixed(TEAL, VIOLET, (height - 0.45) / 0.55),
    fading: Math.exp(-height * 2.3),
  };
});

/** Half the width of a band, in the phase of the sine that makes bands; rounded up. */
const BAND = 0.44;
const BEND = 2.6;
const FOLD = 0.7;
/** Upper bounds of the change of the phase per unit of distance on the plane, without folds and with them. */
const BENT_STEEPEST = Math.hypot(1.5, 0.5) + BEND * 0.5 * AT2_STEEPEST;
const PHASE_STEEPEST = BENT_STEEPEST + FOLD * (1.7 + 2 * 0.5 * AT2_STEEPEST) * AT2_STEEPEST;

/** The bands have gaps, about as wide as the inverse of the scale, where the noise is below the negative edge. */
const GAPS_SCALE = 0.4;
const GAPS_EDGE = 0.35;

/** The aurora: bands on a plane overhead, extended upwards layer by layer. */
export class Aurora {
  private readonly noise: Noise;
  /** For each layer, a place on the plane and the distance from it within which there is no band. */
  private readonly darkX = new Float64Array(LAYERS.length);
  private readonly darkZ = new Float64Array(LAYERS.length);
  private readonly darkRadius = new Float64Array(LAYERS.length);

  constructor(seed: number) {
    this.noise = new Noise(seed ^ 0xa0a0);
  }

  paint(paint: Paint, ray: Ray, strength: number): void {
    if (ray.y < 0.02) return;
    const { noise } = this;
    const seen = smoothstep(0.02, 0.22, ray.y);
    for (let layer = 0; layer < LAYERS.length; layer++) {
      const { distance, hue, fading } = LAYERS[layer] as (typeof LAYERS)[number];
      const reach = distance / (ray.y + 0.22);
      const px = ray.x * reach;
      const pz = ray.z * reach;
      if (this.isDark(layer, px, pz)) continue;
      const bend = noise.at2(px * 0.5 + 3, pz * 0.5);
      const bent = pz * 1.5 + px * 0.5 + BEND * bend;
      if (this.setDark(layer, px, pz, (awayFromBand(bent) - FOLD * AT2_MAX) / BENT_STEEPEST)) continue;
      const phase = bent + FOLD * noise.at2(px * 1.7 - 8, pz * 1.7 + 2 * bend);
      if (this.setDark(layer, px, pz, awayFromBand(phase) / PHASE_STEEPEST)) continue;
      const fullness = noise.at2(px * GAPS_SCALE + 20, pz * GAPS_SCALE);
      if (this.setDark(layer, px, pz, (-GAPS_EDGE - fullness) / (GAPS_SCALE * AT2_STEEPEST))) continue;
      const curtain = Math.exp(-Math.abs(Math.sin(phase)) * 11);
      if (curtain < 0.01) continue;
      const rays = 0.55 + 0.9 * noise.at2(px * 7 + 5, pz * 7);
      const gaps = smoothstep(-GAPS_EDGE, GAPS_EDGE, fullness);
      const light = curtain * Math.max(0, rays) * gaps * fading * seen;
      shine(paint, hue, (light * strength * 3.4) / LAYERS.length);
    }
  }

  private isDark(layer: number, px: number, pz: number): boolean {
    const dx = px - (this.darkX[layer] as number);
    const dz = pz - (this.darkZ[layer] as number);
    const radius = this.darkRadius[layer] as number;
    return dx * dx + dz * dz < radius * radius;
  }

  /** Returns whether the place itself is dark. */
  private setDark(layer: number, px: number, pz: number, radius: number): boolean {
    if (radius <= 0) return false;
    this.darkX[layer] = px;
    this.darkZ[layer] = pz;
    this.darkRadius[layer] = radius;
    return true;
  }
}

/** How far this phase is outside of a band; negative inside. */
const awayFromBand = (phase: number): number => Math.abs(phase - Math.PI * Math.round(phase / Math.PI)) - BAND;
