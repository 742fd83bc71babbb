import { cover, type Paint, type Rgb, set } from "./colour.js";
import { AT2_MAX, cellRandom, clamp01, mix, Noise, smoothstep } from "./noise.js";
import type { Land, Scene } from "./scene.js";

const OCTAVES_MAX = 8;
/** How much larger than the smallest visible bumps the largest ones are, from which on all octaves are visible. */
const DETAILS_MAX = 2 ** (OCTAVES_MAX - 1);
/** The height of ground that is not computed because it is hidden. */
const HIDDEN = Number.NEGATIVE_INFINITY;
/** Upper bound of the sum of the octaves of ridges: 0.62 / (1 - 0.46), rounded up. */
const RIDGES_MAX = 1.15;

/** The height of the ground around the viewer, in metres; x points east and z north, both in metres. */
export class Terrain {
  readonly eyeHeight: number;
  /** Upper bound of the height. */
  readonly top: number;
  private readonly land: Land;
  private readonly pixelRadians: number;
  private readonly noise: Noise;
  private readonly tiltX: number;
  private readonly tiltZ: number;

  constructor(scene: Scene, land: Land, pixelRadians: number) {
    this.land = land;
    this.pixelRadians = pixelRadians;
    this.noise = new Noise(scene.seed ^ 0x1a4d);
    this.tiltX = Math.sin(scene.light.azimuth + 0.35) * land.relief.tilt;
    this.tiltZ = Math.cos(scene.light.azimuth + 0.35) * land.relief.tilt;
    const ground = this.height(0, 0, OCTAVES_MAX);
    this.eyeHeight = land.eyeMetres + (land.water === undefined ? ground : Math.max(0, ground));
    this.top = Math.max(land.relief.baseMetres, 0) + land.relief.heightMetres * 1.15 + 15;
  }

  /** The number of octaves that are visible at this distance. */
  octavesAt(distance: number): number {
    const details = this.land.relief.wavelengthMetres / (0.3 + 1.6 * distance * this.pixelRadians);
    return details >= DETAILS_MAX ? OCTAVES_MAX : Math.max(2, 1 + Math.log2(details));
  }

  /**
   * A caller that treats all heights up to `floor` alike passes it, because most ground is hidden behind nearer ground.
   * Then the result may be -Infinity instead of such a height.
   */
  height(x: number, z: number, octaves: number, floor = HIDDEN): number {
    const { relief } = this.land;
    const distance = Math.sqrt(x * x + z * z);
    const rise = smoothstep(relief.nearMetres, relief.farMetres, distance) * relief.heightMetres;
    const beach = relief.tilt === 0 ? 0 : beachAt(x * this.tiltX + z * this.tiltZ);
    const restMax = relief.baseMetres + relief.rollMetres * AT2_MAX - beach;
    const shape = rise > 0 ? this.shape(x, z, octaves, (floor - restMax) / rise) : 0;
    if (shape === HIDDEN || restMax + rise * shape < floor) return HIDDEN;
    const height = relief.baseMetres + this.roll(x, z, octaves) - beach;
    return rise > 0 ? height + rise * shape : height;
  }

  /** Low bumps everywhere, also near the viewer. */
  private roll(x: number, z: number, octaves: number): number {
    return this.land.relief.rollMetres * this.noise.fractal2(x / 90, z / 90, Math.min(octaves, 5));
  }

  private shape(x: number, z: number, octaves: number, floor: number): number {
    const { shape, wavelengthMetres } = this.land.relief;
    const px = x / wavelengthMetres;
    const pz = z / wavelengthMetres;
    switch (shape) {
      case "eroded":
        return this.ridges(px, pz, octaves, floor);
      case "soft": {
        const noiseFloor = (floor - 0.5) / 0.95;
        const noise = this.noise.fractal2(px, pz, Math.min(octaves, 6), noiseFloor);
        return noise < noiseFloor ? HIDDEN : clamp01(0.5 + 0.95 * noise);
      }
      case "dunes":
        return this.dunes(px, pz, octaves);
      case "craters":
        return this.craters(px, pz, octaves);
    }
  }

  /** Sharp ridges, finer where the ground is higher, like eroded mountains. */
  private ridges(px: number, pz: number, octaves: number, floor: number): number {
    const { noise } = this;
    const massif = mix(0.25, 1, smoothstep(-0.55, 0.45, noise.fractal2(px * 0.42 - 9, pz * 0.42 + 4, 2)));
    if (RIDGES_MAX * massif < floor) return HIDDEN;
    const warp = noise.at2(px * 0.7 + 40, pz * 0.7);
    let x = px + 0.35 * warp;
    let z = pz - 0.35 * warp;
    let sum = 0;
    let strength = 0.62;
    let weight = 1;
    // The plus sign is there for the same reason as in `Noise`.
    for (let left = +octaves; left > 0; left--) {
      const edge = 1 - Math.abs(noise.at2(x, z)) * 1.35;
      const ridge = edge * edge * weight;
      sum += strength * (left < 1 ? left : 1) * ridge;
      weight = clamp01(ridge * 1.7);
      const turned = 1.62 * x + 1.18 * z + 3.1;
      z = 1.62 * z - 1.18 * x - 7.4;
      x = turned;
      strength *= 0.46;
      // The next octave adds at most `strength * weight`; all later ones add less than 0.86 of `strength`.
      if ((sum + strength * (weight + 0.86)) * massif < floor) return HIDDEN;
    }
    return sum * massif;
  }

  private dunes(px: number, pz: number, octaves: number): number {
    const { noise } = this;
    const warp = noise.fractal2(px * 0.6, pz * 0.6 + 13, 3);
    const phase = px * 0.8 + pz * 0.55 + 1.9 * warp;
    const wave = phase - Math.floor(phase);
    // A dune: a long slope up to a sharp crest, then a short steep slope down.
    const crest = wave < 0.7 ? wave / 0.7 : (1 - wave) / 0.3;
    const rounded = crest * crest * (1.6 - 0.6 * crest);
    const size = 0.45 + 0.9 * clamp01(0.5 + noise.at2(px * 0.45 + 8, pz * 0.45));
    const second = Math.abs(noise.at2(px * 2.1 + 3 * warp, pz * 2.1));
    return (
      0.62 * rounded * size + 0.12 * (1 - second) + 0.01 * noise.fractal2(px * 9, pz * 9, Math.max(0, octaves - 4))
    );
  }

  private craters(px: number, pz: number, octaves: number): number {
    let height = 0.5 + 0.5 * this.noise.fractal2(px, pz, octaves);
    for (let scale = 1; scale < 9; scale *= 2) {
      const cellX = Math.floor(px * scale);
      const cellZ = Math.floor(pz * scale);
      const radius = 0.2 + 0.2 * cellRandom(cellX, cellZ, scale, 5);
      const centreX = cellX + 0.5 + (0.5 - radius) * (cellRandom(cellX, cellZ, scale, 6) - 0.5);
      const centreZ = cellZ + 0.5 + (0.5 - radius) * (cellRandom(cellX, cellZ, scale, 7) - 0.5);
      const offX = px * scale - centreX;
      const offZ = pz * scale - centreZ;
      const across = Math.sqrt(offX * offX + offZ * offZ) / radius;
      if (across < 1.2 && cellRandom(cellX, cellZ, scale, 8) < 0.75) {
        const bowl =
          across < 0.8
            ? -0.35 + 0.5 * across * across
            : 0.12 * smoothstep(1.2, 0.85, across) - 0.15 * smoothstep(0.95, 0.8, across);
        height += (bowl * 0.6) / scale;
      }
    }
    return height;
  }
}

/** The profile of a beach: down into deep water on one side, a gentler slope up to dry land on the other. */
const beachAt = (drop: number): number => {
  const bent = 0.58 * drop + 0.42 * (Math.sqrt(drop * drop + 36) - 6);
  return Math.min(bent, 300);
};

const ROW_METRES = 2.2;

/** Visible share of the ground between two rows of plants. Far away a pixel contains many rows. */
const furrowAt = (x: number, distance: number): number => {
  const across = Math.abs(x / ROW_METRES - Math.floor(x / ROW_METRES) - 0.5);
  return mix(0.75 * smoothstep(0.3, 0.42, across), 0.22, smoothstep(40, 160, distance));
};

/** A piece of visible ground, `distance` metres from the viewer. One object is reused for all, see `Ray`. */
export type GroundSpot = { x: number; z: number; height: number; distance: number };

/** The material of the ground and its shading. */
export class GroundPainter {
  private readonly scene: Scene;
  private readonly land: Land;
  private readonly terrain: Terrain;
  private readonly noise: Noise;
  private readonly light: Rgb;
  private readonly waterLine: number;

  constructor(scene: Scene, land: Land, terrain: Terrain) {
    const { azimuth, elevation } = scene.light;
    const shown = Math.max(elevation, 0.09);
    this.scene = scene;
    this.land = land;
    this.terrain = terrain;
    this.noise = new Noise(scene.seed ^ 0x6e0d);
    this.light = [Math.sin(azimuth) * Math.cos(shown), Math.sin(shown), Math.cos(azimuth) * Math.cos(shown)];
    this.waterLine = land.water === undefined ? Number.NEGATIVE_INFINITY : 0;
  }

  /** The colour of the ground without atmospheric haze. */
  paint(paint: Paint, spot: GroundSpot): void {
    const { x, z, height, distance } = spot;
    const { noise, terrain } = this;
    const { ground } = this.land;
    const octaves = terrain.octavesAt(distance);
    const step = 0.12 + distance * 0.002;
    const slopeX = (terrain.height(x + step, z, octaves) - height) / step;
    const slopeZ = (terrain.height(x, z + step, octaves) - height) / step;
    const up = 1 / Math.sqrt(1 + slopeX * slopeX + slopeZ * slopeZ);

    // Three scales of mottling, each faded out before it is finer than a pixel.
    const broad = noise.fractal2(x / 140, z / 140, 3);
    const middle = distance < 1500 ? noise.fractal2(x / 7, z / 7, 3) * smoothstep(1500, 300, distance) : 0;
    const fine = distance < 90 ? noise.fractal2(x / 0.5, z / 0.5, 4) * smoothstep(90, 25, distance) : 0;
    const grain = distance < 28 ? noise.at2(x / 0.06, z / 0.06) * smoothstep(28, 9, distance) : 0;

    set(paint, ground.low);
    cover(paint, ground.lowOther, clamp01(0.5 + 1.6 * broad + ground.mottling * (1.1 * middle + 0.5 * fine)));
    if (this.waterLine === 0) cover(paint, ground.shore, smoothstep(2.6 + 3 * middle, 0.5, height));
    cover(paint, ground.steep, smoothstep(0.86, 0.68, up + 0.1 * broad + 0.08 * middle));
    if (ground.furrows !== undefined) cover(paint, ground.furrows, furrowAt(x + 3 * broad, distance));
    const snowAt = ground.snowLineMetres * (1 + 0.35 * broad);
    const snow = smoothstep(snowAt * 0.9, snowAt * 1.15, height + 8 * middle) * smoothstep(0.5, 0.7, up + 0.1 * middle);
    if (snow > 0) cover(paint, ground.snow, snow);
    const mottled = 1 + (1 - 0.75 * snow) * ground.mottling * (0.5 * middle + 0.75 * fine + 0.35 * grain);
    if (ground.dots !== undefined && distance < 160) this.paintDots(paint, ground.dots, spot, up);

    const { sunlight, skylight } = this.scene.sky;
    const facing = Math.max(0, up * (this.light[1] - slopeX * this.light[0] - slopeZ * this.light[2]));
    const shaded =
      facing > 0 && this.scene.clouds > 0.15
        ? 1 - 0.5 * smoothstep(0, 0.3, noise.fractal2(x / 900 + 50, z / 900, 3, 0)) * this.scene.clouds
        : 1;
    const sky = 0.35 + 0.65 * up * up;
    paint[0] = Math.max(0, paint[0] * mottled * (sunlight[0] * facing * shaded + skylight[0] * sky));
    paint[1] = Math.max(0, paint[1] * mottled * (sunlight[1] * facing * shaded + skylight[1] * sky));
    paint[2] = Math.max(0, paint[2] * mottled * (sunlight[2] * facing * shaded + skylight[2] * sky));
    if (ground.lava) this.paintLava(paint, spot, up);
  }

  private paintDots(paint: Paint, dots: Rgb, { x, z, distance }: GroundSpot, up: number): void {
    const size = 0.55;
    const cellX = Math.floor(x / size);
    const cellZ = Math.floor(z / size);
    const patch = smoothstep(-0.1, 0.3, this.noise.fractal2(x / 26, z / 26, 3));
    if (cellRandom(cellX, cellZ, 1, this.scene.seed) > 0.75 * patch) return;
    const centreX = (cellX + 0.25 + 0.5 * cellRandom(cellX, cellZ, 2, this.scene.seed)) * size;
    const centreZ = (cellZ + 0.25 + 0.5 * cellRandom(cellX, cellZ, 3, this.scene.seed)) * size;
    const reach = 0.09 + 0.08 * cellRandom(cellX, cellZ, 4, this.scene.seed);
    const blur = 0.02 + distance * 0.004;
    const near = 1 - smoothstep(reach - blur, reach + blur, Math.hypot(x - centreX, z - centreZ));
    const tint = 0.75 + 0.5 * cellRandom(cellX, cellZ, 5, this.scene.seed);
    const far = clamp01((reach / (reach + blur)) ** 1.2);
    cover(paint, [dots[0] * tint, dots[1], dots[2] * (1.6 - tint)], near * far * up * smoothstep(160, 70, distance));
  }

  private paintLava(paint: Paint, { x, z, height }: GroundSpot, up: number): void {
    const crack =
      Math.abs(this.noise.fractal2(x / 46, z / 46, 5)) + 0.5 * Math.abs(this.noise.fractal2(x / 9, z / 9, 3));
    const low = smoothstep(120, 0, height) * smoothstep(0.75, 0.95, up);
    const heat = smoothstep(0.13, 0.0, crack) * low;
    paint[0] += 3.2 * heat;
    paint[1] += 0.75 * heat * heat;
    paint[2] += 0.12 * heat * heat * heat;
    const warm = 0.04 * smoothstep(0.45, 0.1, crack) * low;
    paint[0] += warm;
    paint[1] += 0.2 * warm;
  }
}
