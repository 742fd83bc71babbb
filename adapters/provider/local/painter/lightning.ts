import { type Paint, type Ray, type Rgb, shine } from "./colour.js";
import { Noise, randomsFrom, smoothstep } from "./noise.js";

const LIGHT: Rgb = [0.85, 0.9, 1.25];
/** Above this height on the unit sphere the glow in the clouds is too weak to be seen. */
const GLOW_TOP = 0.8;

type Bolt = {
  readonly azimuth: number;
  readonly top: number;
  readonly bottom: number;
  readonly lean: number;
  readonly salt: number;
  readonly width: number;
};

/** Bolts with branches, each a jagged line from the clouds to the ground. */
export class Lightning {
  private readonly noise: Noise;
  private readonly bolts: readonly Bolt[];

  constructor(seed: number) {
    this.noise = new Noise(seed ^ 0xb017);
    const random = randomsFrom(seed ^ 0x1197);
    // The first one strikes ahead, where a viewer begins.
    this.bolts = [0.15, -1.6, 2.1].flatMap((at, index): Bolt[] => {
      const main = {
        azimuth: at + random() * 0.3,
        top: 0.36,
        bottom: -0.02,
        lean: 0.1 * (random() - 0.5),
        salt: index * 9.7,
        width: 0.0016,
      };
      const branches = [0.2, 0.13].map((top, branch) => ({
        azimuth: main.azimuth + this.crook(main, top),
        top,
        bottom: top - 0.12,
        lean: (branch === 0 ? 1 : -1) * (0.4 + 0.3 * random()),
        salt: main.salt,
        width: 0.0008,
      }));
      return [main, ...branches];
    });
  }

  paint(paint: Paint, { x, y, z }: Ray): void {
    if (y > GLOW_TOP) return;
    const azimuth = Math.atan2(x, z);
    for (const bolt of this.bolts) {
      const around = azimuth - bolt.azimuth;
      const across = around - 2 * Math.PI * Math.round(around / (2 * Math.PI));
      if (Math.abs(across) > 0.6) continue;
      const glow =
        bolt.width > 0.001 ? 0.2 * Math.exp(-((across / 0.2) ** 2)) * Math.exp(-(((y - 0.3) / 0.2) ** 2)) : 0;
      if (glow > 0.001) shine(paint, LIGHT, glow);
      if (y > bolt.top || y < bolt.bottom) continue;
      const offset =
        bolt.width > 0.001
          ? this.crook(bolt, y)
          : this.crook(bolt, y) - this.crook(bolt, bolt.top) + bolt.lean * (bolt.top - y);
      const distance = Math.abs(across - offset);
      const fade = smoothstep(bolt.bottom, bolt.bottom + 0.05, y) * smoothstep(bolt.top, bolt.top - 0.03, y);
      shine(
        paint,
        LIGHT,
        fade * (3.2 * Math.exp(-((distance / bolt.width) ** 2)) + 0.35 * Math.exp(-distance / 0.012)),
      );
    }
  }

  private crook(bolt: Pick<Bolt, "salt" | "lean">, y: number): number {
    return 0.32 * this.noise.fractal2(y * 7 + bolt.salt, bolt.salt, 6) * (0.4 + y);
  }
}
