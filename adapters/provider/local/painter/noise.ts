/** A small, fast, seeded generator of pseudo-random numbers in [0, 1) (mulberry32). */
export const randomsFrom = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
};

/** A 32-bit hash of a text (FNV-1a). */
export const seedFrom = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
};

/** A pseudo-random number in [0, 1) that depends only on the cell of the grid and the seed. */
export const cellRandom = (x: number, y: number, z: number, seed: number): number => {
  let hash =
    Math.imul(x, 0x27d4eb2d) ^ Math.imul(y, 0x165667b1) ^ Math.imul(z, 0x5f356495) ^ Math.imul(seed, 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 4294967296;
};

export const clamp01 = (value: number): number => (value < 0 ? 0 : value > 1 ? 1 : value);

export const mix = (from: number, to: number, share: number): number => from + (to - from) * share;

/** 0 below `from`, 1 above `to`, smooth in between. */
export const smoothstep = (from: number, to: number, value: number): number => {
  const t = clamp01((value - from) / (to - from));
  return t * t * (3 - 2 * t);
};

const fade = (t: number): number => t * t * t * (t * (t * 6 - 15) + 10);

/**
 * The slope at each corner of the grid, in tables: choosing it by branches takes twice as long. The tables are constants
 * of this file, so that the compiler knows their lengths and drops the checks of each index.
 */
const SLOPES2 = new Float64Array(512);
const SLOPES3 = new Float64Array(1024);
for (let corner = 0; corner < 256; corner++) {
  const angle = (corner / 256) * 2 * Math.PI;
  SLOPES2.set([1.15 * Math.cos(angle), 1.15 * Math.sin(angle)], corner * 2);
  const height = 1 - (2 * corner + 1) / 256;
  const turn = corner * 2.399963;
  const level = Math.sqrt(1 - height * height);
  SLOPES3.set([1.4 * level * Math.cos(turn), 1.4 * height, 1.4 * level * Math.sin(turn)], corner * 4);
}
/** Upper bounds of `at2` and `at3`: the length of the slopes times half the diagonal of a cell, rounded up. */
export const AT2_MAX = 0.82;
export const AT3_MAX = 1.22;

/** Seeded gradient noise: smooth, from about -1 to 1 with mean 0, one bump per unit. */
export class Noise {
  /** The numbers 0 to 255 in random order, twice, so that a sum of two bytes and 1 needs no modulo. */
  private readonly permutation = new Uint8Array(512);

  constructor(seed: number) {
    const random = randomsFrom(seed);
    const order = Uint8Array.from({ length: 256 }, (_, index) => index);
    for (let last = 255; last > 0; last--) {
      const other = Math.floor(random() * (last + 1));
      const kept = order[last] as number;
      order[last] = order[other] as number;
      order[other] = kept;
    }
    this.permutation.set(order);
    this.permutation.set(order, 256);
  }

  at2(x: number, y: number): number {
    const p = this.permutation;
    const x0 = Math.floor(x);
    const y0 = Math.floor(y);
    const fx = x - x0;
    const fy = y - y0;
    const column = x0 & 255;
    const row = y0 & 255;
    const left = (p[column] as number) + row;
    const right = (p[column + 1] as number) + row;
    const u = fade(fx);
    const low = mix(slope2(p[left] as number, fx, fy), slope2(p[right] as number, fx - 1, fy), u);
    const high = mix(slope2(p[left + 1] as number, fx, fy - 1), slope2(p[right + 1] as number, fx - 1, fy - 1), u);
    return mix(low, high, fade(fy));
  }

  at3(x: number, y: number, z: number): number {
    const p = this.permutation;
    const x0 = Math.floor(x);
    const y0 = Math.floor(y);
    const z0 = Math.floor(z);
    const fx = x - x0;
    const fy = y - y0;
    const fz = z - z0;
    const column = x0 & 255;
    const row = y0 & 255;
    const front = z0 & 255;
    const left = (p[column] as number) + row;
    const right = (p[column + 1] as number) + row;
    const a = (p[left] as number) + front;
    const b = (p[right] as number) + front;
    const c = (p[left + 1] as number) + front;
    const d = (p[right + 1] as number) + front;
    const u = fade(fx);
    const v = fade(fy);
    const near = mix(
      mix(slope3(p[a] as number, fx, fy, fz), slope3(p[b] as number, fx - 1, fy, fz), u),
      mix(slope3(p[c] as number, fx, fy - 1, fz), slope3(p[d] as number, fx - 1, fy - 1, fz), u),
      v,
    );
    const away = fz - 1;
    const far = mix(
      mix(slope3(p[a + 1] as number, fx, fy, away), slope3(p[b + 1] as number, fx - 1, fy, away), u),
      mix(slope3(p[c + 1] as number, fx, fy - 1, away), slope3(p[d + 1] as number, fx - 1, fy - 1, away), u),
      v,
    );
    return mix(near, far, fade(fz));
  }

  /**
   * Sum of octaves, each twice as fine and half as strong; a fractional count fades the last one in. A caller to whom all
   * sums up to `floor` are the same passes it: the finer octaves are skipped when they cannot lift the sum above it.
   */
  fractal2(x: number, y: number, octaves: number, floor = Number.NEGATIVE_INFINITY): number {
    let sum = 0;
    let strength = 0.5;
    let px = x;
    let py = y;
    for (let left = octaves; left > 0; left--) {
      sum += strength * (left < 1 ? left : 1) * this.at2(px, py);
      // All finer octaves together are at most as strong as this one.
      if (sum + strength * AT2_MAX < floor) return sum;
      // Each octave is rotated a little, so that no grid is visible.
      const turned = 1.6 * px + 1.2 * py + 17.3;
      py = 1.6 * py - 1.2 * px + 5.9;
      px = turned;
      strength *= 0.5;
    }
    return sum;
  }

  /** Like `fractal2`. */
  fractal3(x: number, y: number, z: number, octaves: number, floor = Number.NEGATIVE_INFINITY): number {
    let sum = 0;
    let strength = 0.5;
    let scale = 1;
    for (let left = octaves; left > 0; left--) {
      sum +=
        strength * (left < 1 ? left : 1) * this.at3(x * scale + scale, y * scale - scale, z * scale + 0.37 * scale);
      if (sum + strength * AT3_MAX < floor) return sum;
      scale *= 2.03;
      strength *= 0.5;
    }
    return sum;
  }
}

const slope2 = (corner: number, x: number, y: number): number =>
  (SLOPES2[corner * 2] as number) * x + (SLOPES2[corner * 2 + 1] as number) * y;

const slope3 = (corner: number, x: number, y: number, z: number): number =>
  (SLOPES3[corner * 4] as number) * x +
  (SLOPES3[corner * 4 + 1] as number) * y +
  (SLOPES3[corner * 4 + 2] as number) * z;
