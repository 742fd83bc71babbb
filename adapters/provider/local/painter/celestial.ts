import { colour, cover, mixed, type Paint, type Ray, type Rgb, set, shine } from "./colour.js";
import { clamp01, Noise, randomsFrom, smoothstep } from "./noise.js";
import type { Scene } from "./scene.js";
import { StarLayer } from "./star-layer.js";

type Planet = {
  readonly direction: Rgb;
  /** The length of the horizontal part of the direction. */
  readonly level: number;
  readonly radius: number;
  readonly banded: boolean;
  readonly colours: readonly [Rgb, Rgb];
  readonly ring: Rgb | undefined;
};

/** The radius of a star in radians; where a pixel is larger, stars have the size of a pixel. */
const STAR_RADIUS = 0.0009;

/** Stars, the Milky Way, nebulae and planets: everything beyond the atmosphere, a function of the direction only. */
export class Celestial {
  private readonly scene: Scene;
  private readonly noise: Noise;
  private readonly starRadius: number;
  private readonly starLayers: readonly StarLayer[];
  private readonly galaxy: Rgb;
  private readonly planets: readonly Planet[];
  private readonly nebulaColours: readonly [Rgb, Rgb, Rgb];
  private readonly gasColour: Paint = [0, 0, 0];

  constructor(scene: Scene, pixelRadians: number) {
    this.scene = scene;
    this.noise = new Noise(scene.seed ^ 0x51a7);
    const radius = Math.max(STAR_RADIUS, pixelRadians * 0.6);
    this.starRadius = radius;
    // Keeps the light of a star constant when its disc is enlarged to a pixel.
    const dimming = (STAR_RADIUS / radius) ** 1.5;
    const { seed, stars } = scene;
    this.starLayers = [
      new StarLayer({ seed, cells: 34, brightness: 1.6 * stars, share: 0.2, radius, dimming }),
      new StarLayer({ seed: seed + 1, cells: 90, brightness: 0.5 * stars, share: 0.3, radius, dimming }),
      new StarLayer({ seed: seed + 2, cells: 190, brightness: 0.22 * stars, share: 0.36, radius, dimming }),
    ];
    const random = randomsFrom(scene.seed ^ 0x9a1a);
    this.galaxy = unit(random() - 0.5, 0.55 + 0.3 * random(), random() - 0.5);
    this.nebulaColours = NEBULA_COLOURS[Math.floor(random() * NEBULA_COLOURS.length)] ?? NEBULA_COLOURS[0];
    this.planets =
      scene.planets === "moons"
        ? moonsOf(random)
        : scene.planets === "planets"
          ? planetsOf(random, scene.land === undefined)
          : [];
  }

  /** Adds its light to `paint`. */
  paint(paint: Paint, ray: Ray): void {
    const { stars, nebula } = this.scene;
    if (nebula > 0) this.addNebula(paint, ray, nebula);
    if (stars > 0) {
      const inGalaxy = this.addGalaxy(paint, ray, stars);
      const crowding = 0.55 + 0.9 * inGalaxy;
      for (const layer of this.starLayers) layer.paint(paint, ray, crowding);
    }
    for (const planet of this.planets) this.addPlanet(paint, ray, planet);
  }

  /** Returns how bright the galaxy is here, from 0 to 1. */
  private addGalaxy(paint: Paint, { x, y, z }: Ray, stars: number): number {
    const { galaxy } = this;
    const across = x * galaxy[0] + y * galaxy[1] + z * galaxy[2];
    const band = Math.exp(-((across / 0.27) ** 2));
    if (band < 0.02) return 0;
    const clouds = this.noise.fractal3(x * 2.2 + 9, y * 2.2, z * 2.2, 5);
    const middle = 0.22 * Math.exp(-((across / 0.07) ** 2));
    const dust = smoothstep(-0.02, 0.3, this.noise.fractal3(x * 4 - 5, y * 4, z * 4, 5, -0.02 - middle) + middle);
    const glow = band * clamp01(0.55 + 1.1 * clouds) * (1 - 0.72 * dust);
    shine(paint, GALAXY_LIGHT, glow * stars * 0.75);
    return glow;
  }

  private addNebula(paint: Paint, { x, y, z }: Ray, strength: number): void {
    const { noise } = this;
    const warpX = noise.fractal3(x * 1.4 + 3.1, y * 1.4, z * 1.4, 4);
    const warpY = noise.fractal3(x * 1.4, y * 1.4 + 7.7, z * 1.4, 4);
    const px = x * 1.7 + 1.6 * warpX;
    const py = y * 1.7 + 1.6 * warpY;
    const pz = z * 1.7 - 1.1 * warpX;
    const gas = smoothstep(-0.1, 0.55, noise.fractal3(px, py, pz, 6, -0.1));
    const glowing = noise.fractal3(px * 1.3 + 5, py * 1.3, pz * 1.3 - 2, 6, 0.12 - 0.25 * warpY);
    const core = smoothstep(0.12, 0.6, glowing + 0.25 * warpY);
    if (gas === 0 && core === 0) return;
    const veil = 1 - 0.8 * smoothstep(0.02, 0.35, noise.fractal3(px * 2.3, py * 2.3 + 4, pz * 2.3, 5, 0.02));
    const { nebulaColours, gasColour } = this;
    set(gasColour, nebulaColours[0]);
    cover(gasColour, nebulaColours[1], clamp01(0.5 + 1.6 * warpY));
    shine(paint, gasColour, gas * gas * veil * 0.75 * strength);
    shine(paint, nebulaColours[2], core * core * veil * 1.1 * strength);
  }

  private addPlanet(paint: Paint, { x, y, z }: Ray, planet: Planet): void {
    const { direction, level } = planet;
    const dx = direction[0];
    const dy = direction[1];
    const dz = direction[2];
    const towards = x * dx + y * dy + z * dz;
    if (towards < 0.3) return;
    // Axes in the plane of the disc; the first one is horizontal.
    const right = (x * dz - z * dx) / level;
    const up = (y * level * level - dy * (x * dx + z * dz)) / level;
    const u = right / towards / planet.radius;
    const v = up / towards / planet.radius;
    const across = u * u + v * v;
    const edge = this.starRadius / planet.radius;
    const disc = 1 - smoothstep(1 - edge, 1 + edge, Math.sqrt(across));
    if (across <= 1.6) this.addDisc(paint, planet, u, v, disc);
    // Painted last: it hides the disc in front of it.
    if (planet.ring !== undefined) this.addRing(paint, u, v, planet.ring, disc);
  }

  /** `opacity`: the share of the pixel that the disc covers. */
  private addDisc(paint: Paint, planet: Planet, u: number, v: number, opacity: number): void {
    const across = u * u + v * v;
    const air = Math.exp(-Math.max(0, Math.sqrt(across) - 1) * 14);
    const lightU = 0.62;
    const lightV = 0.42;
    const depth = Math.sqrt(Math.max(0, 1 - across));
    const lit = smoothstep(-0.12, 0.75, u * lightU + v * lightV + depth * 0.58);
    shine(paint, planet.colours[1], 0.3 * air * smoothstep(-0.6, 0.9, u * lightU + v * lightV));
    const tilted = v * 0.95 + u * 0.3;
    const texture = planet.banded
      ? this.noise.fractal2(tilted * 5 + 0.25 * this.noise.fractal3(u * 3, v * 3, depth * 3, 4), 0.7, 5) * 1.5 + 0.5
      : this.noise.fractal3(u * 2.4, v * 2.4, depth * 2.4 + planet.radius * 40, 7) * 1.5 + 0.5;
    const surface = mixed(planet.colours[0], planet.colours[1], clamp01(texture));
    const shaded: Rgb = [surface[0] * (0.012 + lit), surface[1] * (0.012 + lit), surface[2] * (0.015 + lit)];
    cover(paint, shaded, opacity);
  }

  private addRing(paint: Paint, u: number, v: number, ring: Rgb, disc: number): void {
    const tilted = (v * 0.95 + u * 0.3) / 0.22;
    const along = u * 0.95 - v * 0.3;
    const radius = Math.sqrt(tilted * tilted + along * along);
    if (radius < 1.3 || radius > 2.4) return;
    const gaps = 0.55 + 0.9 * this.noise.fractal2(radius * 9, 3.3, 4);
    const opacity = smoothstep(1.3, 1.42, radius) * smoothstep(2.4, 2.25, radius) * clamp01(gaps);
    cover(paint, ring, 0.75 * opacity * (tilted > 0 ? 1 - disc : 1));
  }
}

const GALAXY_LIGHT: Rgb = [0.11, 0.115, 0.16];

const NEBULA_COLOURS: readonly [Palette, ...Palette[]] = [
  [colour("#2a4fd0"), colour("#9a2fb8"), colour("#ff7a9a")],
  [colour("#0f8f9a"), colour("#2a48c0"), colour("#ffb070")],
  [colour("#7a1f5a"), colour("#c0482a"), colour("#ffd090")],
  [colour("#1a6a5a"), colour("#6a3fc0"), colour("#8ad8ff")],
];
type Palette = readonly [Rgb, Rgb, Rgb];

const PLANET_COLOURS: readonly (readonly [Rgb, Rgb])[] = [
  [colour("#a8683e"), colour("#f0d0a0")],
  [colour("#1d4a8a"), colour("#8ac4e8")],
  [colour("#6a4a7a"), colour("#d8a8c8")],
  [colour("#8a8478"), colour("#d8d4c8")],
];

const planetsOf = (random: () => number, everywhere: boolean): Planet[] => {
  const first = Math.floor(random() * PLANET_COLOURS.length);
  const sizes = everywhere ? [0.34, 0.11, 0.05] : [0.24, 0.06];
  return sizes.map((radius, index) => {
    const azimuth = index === 0 ? -0.7 + 0.5 * random() : 0.8 + index * 1.7 + random();
    const elevation = everywhere ? (random() - 0.4) * 0.7 : 0.42 + 0.3 * random();
    return {
      ...towards(azimuth, elevation),
      radius,
      banded: index === 0,
      colours: PLANET_COLOURS[(first + index) % PLANET_COLOURS.length] ?? [colour("#888888"), colour("#cccccc")],
      ring: index === 0 ? colour("#d8c4a0") : undefined,
    };
  });
};

/** Two moons, one much nearer than the other, both in the view ahead. */
const moonsOf = (random: () => number): Planet[] =>
  [0.12, 0.055].map((radius, index) => {
    const azimuth = (index === 0 ? -0.35 : 0.25) + 0.2 * (random() - 0.5);
    const elevation = (index === 0 ? 0.4 : 0.62) + 0.1 * random();
    return {
      ...towards(azimuth, elevation),
      radius,
      banded: false,
      colours: MOON_COLOURS[index] ?? MOON_COLOURS[0],
      ring: undefined,
    };
  });

const towards = (azimuth: number, elevation: number): Pick<Planet, "direction" | "level"> => {
  const direction = unit(
    Math.sin(azimuth) * Math.cos(elevation),
    Math.sin(elevation),
    Math.cos(azimuth) * Math.cos(elevation),
  );
  return { direction, level: Math.hypot(direction[0], direction[2]) };
};

const MOON_COLOURS: readonly [Pair, ...Pair[]] = [
  [colour("#9a9488"), colour("#fff6e2")],
  [colour("#a8785c"), colour("#ffd2a8")],
];
type Pair = readonly [Rgb, Rgb];

const unit = (x: number, y: number, z: number): Rgb => {
  const length = Math.hypot(x, y, z);
  return [x / length, y / length, z / length];
};
