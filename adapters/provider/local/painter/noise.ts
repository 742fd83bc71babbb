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

/** Seeded gradient noise: smooth, from about -1 to 1 with mean 0, one bump per unit. */
export class Noise {
  private readonly permutation = new Uint8Array(512);
  /** The slope at each corner of the grid, in a table: choosing it by branches takes twice as long. */
  private readonly slopes2 = new Float64Array(512);
  private readonly slopes3 = new Float64Array(1024);

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
    for (let corner = 0; corner < 256; corner++) {
      const angle = (corner / 256) * 2 * Math.PI;
      this.slopes2.set([1.15 * Math.cos(angle), 1.15 * Math.sin(angle)], corner * 2);
      const height = 1 - (2 * corner + 1) / 256;
      const turn = corner * 2.399963;
      const level = Math.sqrt(1 - height * height);
      this.slopes3.set([1.4 * level * Math.cos(turn), 1.4 * height, 1.4 * level * Math.sin(turn)], corner * 4);
    }
  }

  at2(x: number, y: number): number {
    const p = this.permutation;
    const g = this.slopes2;
    const x0 = Math.floor(x);
    const y0 = Math.floor(y);
    const fx = x - x0;
    const fy = y - y0;
    const left = p[x0 & 255] as number;
    const right = p[(x0 + 1) & 255] as number;
    const row = y0 & 255;
    const next = (y0 + 1) & 255;
    const u = fade(fx);
    const low = mix(slope2(g, p[left + row] as number, fx, fy), slope2(g, p[right + row] as number, fx - 1, fy), u);
    const high = mix(
      slope2(g, p[left + next] as number, fx, fy - 1),
      slope2(g, p[right + next] as number, fx - 1, fy - 1),
      u,
    );
    return mix(low, high, fade(fy));
  }

  at3(x: number, y: number, z: number): number {
    const p = this.permutation;
    const g = this.slopes3;
    const x0 = Math.floor(x);
    const y0 = Math.floor(y);
    const z0 = Math.floor(z);
    const fx = x - x0;
    const fy = y - y0;
    const fz = z - z0;
    const row = y0 & 255;
    const next = (y0 + 1) & 255;
    const front = z0 & 255;
    const back = (z0 + 1) & 255;
    const left = p[x0 & 255] as number;
    const right = p[(x0 + 1) & 255] as number;
    const a = p[left + row] as number;
    const b = p[right + row] as number;
    const c = p[left + next] as number;
    const d = p[right + next] as number;
    const u = fade(fx);
    const v = fade(fy);
    const near = mix(
      mix(slope3(g, p[a + front] as number, fx, fy, fz), slope3(g, p[b + front] as number, fx - 1, fy, fz), u),
      mix(slope3(g, p[c + front] as number, fx, fy - 1, fz), slope3(g, p[d + front] as number, fx - 1, fy - 1, fz), u),
      v,
    );
    const away = fz - 1;
    const far = mix(
      mix(slope3(g, p[a + back] as number, fx, fy, away), slope3(g, p[b + back] as number, fx - 1, fy, away), u),
      mix(
        slope3(g, p[c + back] as number, fx, fy - 1, away),
        slope3(g, p[d + back] as number, fx - 1, fy - 1, away),
        u,
      ),
      v,
    );
    return mix(near, far, fade(fz));
  }

  /** Sum of octaves, each twice as fine and half as strong; a fractional count fades the last one in. */
  fractal2(x: number, y: number, octaves: number): number {
    let sum = 0;
    let strength = 0.5;
    let px = x;
    let py = y;
    for (let left = octaves; left > 0; left--) {
      sum += strength * (left < 1 ? left : 1) * this.at2(px, py);
      // Each octave is rotated a little, so that no grid is visible.
      const turned = 1.6 * px + 1.2 * py + 17.3;
      py = 1.6 * py - 1.2 * px + 5.9;
      px = turned;
      strength *= 0.5;
    }
    return sum;
  }

  fractal3(x: number, y: number, z: number, octaves: number): number {
    let sum = 0;
    let strength = 0.5;
    let scale = 1;
    for (let left = octaves; left > 0; left--) {
      sum +=
        strength * (left < 1 ? left : 1) * this.at3(x * scale + scale, y * scale - scale, z * scale + 0.37 * scale);
      scale *= 2.03;
      strength *= 0.5;
    }
    return sum;
  }
}

const slope2 = (slopes: Float64Array, corner: number, x: number, y: number): number =>
  (slopes[corner * 2] as number) * x + (slopes[corner * 2 + 1] as number) * y;

const slope3 = (slopes: Float64Array, corner: number, x: number, y: number, z: number): number =>
  (slopes[corner * 4] as number) * x + (slopes[corner * 4 + 1] as number) * y + (slopes[corner * 4 + 2] as number) * z;
