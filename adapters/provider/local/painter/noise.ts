import { NOISE_KERNEL } from "./noise-kernel-code.js";

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

// Not exported, for use in this file: each use of an export includes a check that it is initialised.
const clamp = (value: number): number => (value < 0 ? 0 : value > 1 ? 1 : value);
export const clamp01 = clamp;

const lerp = (from: number, to: number, share: number): number => from + (to - from) * share;
export const mix = lerp;

/** 1 inside a shape, 0 outside, with a slope of one pixel at its edge. */
export const inside = (depth: number, soft: number): number => clamp(0.5 + depth / Math.max(soft, 1e-4));

/** From 0 below `from` to 1 above `to`, smoothly. In three parts: the compiler always inlines tiny functions. */
export const smoothstep = (from: number, to: number, value: number): number => eased((value - from) / (to - from));
const eased = (t: number): number => hermite(clamp(t));
const hermite = (t: number): number => t * t * (3 - 2 * t);

const fade = (t: number): number => t * t * t * fadeFactor(t);
const fadeFactor = (t: number): number => t * (t * 6 - 15) + 10;

/** Upper bounds of one octave: the length of the slopes times half the diagonal of a cell, rounded up. */
export const AT2_MAX = 0.82;
const AT3_MAX = 1.22;
/** Upper bound of the change of `at2` per unit of distance: the worst slopes at the worst place, rounded up. */
export const AT2_STEEPEST = 2.4;

/** The part of the interface of WebAssembly that is used here; TypeScript has it only among the types of browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

type Kernel = {
  readonly memory: { readonly buffer: ArrayBuffer };
  fractal2(table: number, x: number, y: number, octaves: number, floor: number): number;
};

const kernel = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(NOISE_KERNEL, "base64"))).exports as Kernel;
/** A constant, so that the compiler can call it without a wrapper. */
const kernelFractal2 = kernel.fractal2;

/** A table in the memory of the kernel, see noise-kernel.wat: random order, and two components of slopes. */
const ORDER_BYTES = 512;
const SLOPES_BYTES = 512 * Float64Array.BYTES_PER_ELEMENT;
const TABLE_BYTES = ORDER_BYTES + 2 * SLOPES_BYTES;
/** Noises take tables in turn. A thread paints one strip at a time, with at most eight noises: none is in use twice. */
const TABLES = 32;
let noises = 0;

/**
 * Seeded gradient noise: smooth, from about -1 to 1 with mean 0, one bump per unit.
 *
 * Its loops take half of the time of a picture. In the plane they run in WebAssembly: with vector instructions, and
 * without memory allocated for each number that is passed. In space the compiler limits how much it inlines into one
 * function, and a call costs more than the arithmetic. So an octave is written inside the loop, and its helpers are
 * tiny. The plus signs before arguments tell the compiler that they are numbers: otherwise it allocates memory for them
 * in every octave.
 */
export class Noise {
  /** The numbers 0 to 255 in random order, twice, so that a sum of two bytes and 1 needs no modulo. */
  private readonly permutation = new Uint8Array(512);
  /** The address of its table in the memory of the kernel. */
  private readonly table: number;
  /** The slopes at the corners of the grid in space, by that order: the components of each. */
  private readonly spaceX = new Float64Array(512);
  private readonly spaceY = new Float64Array(512);
  private readonly spaceZ = new Float64Array(512);

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
    this.table = (noises++ % TABLES) * TABLE_BYTES;
    const { buffer } = kernel.memory;
    new Uint8Array(buffer, this.table).set(this.permutation);
    const planeX = new Float64Array(buffer, this.table + ORDER_BYTES, 512);
    const planeY = new Float64Array(buffer, this.table + ORDER_BYTES + SLOPES_BYTES, 512);
    for (const [index, corner] of this.permutation.entries()) {
      const angle = (corner / 256) * 2 * Math.PI;
      planeX[index] = 1.15 * Math.cos(angle);
      planeY[index] = 1.15 * Math.sin(angle);
      const height = 1 - (2 * corner + 1) / 256;
      const turn = corner * 2.399963;
      const level = Math.sqrt(1 - height * height);
      this.spaceX[index] = 1.4 * level * Math.cos(turn);
      this.spaceY[index] = 1.4 * height;
      this.spaceZ[index] = 1.4 * level * Math.sin(turn);
    }
  }

  /** One octave alone. */
  at2(x: number, y: number): number {
    return 2 * kernelFractal2(this.table, x, y, 1, Number.NEGATIVE_INFINITY);
  }

  /**
   * Sum of octaves, each twice as fine and half as strong; a fractional count fades the last one in. A caller that
   * treats all sums up to `floor` alike passes it: finer octaves are skipped if they cannot lift the sum above it.
   */
  fractal2(x: number, y: number, octaves: number, floor = Number.NEGATIVE_INFINITY): number {
    return kernelFractal2(this.table, x, y, octaves, floor);
  }

  /** Like `fractal2`. */
  fractal3(x: number, y: number, z: number, octaves: number, floor = Number.NEGATIVE_INFINITY): number {
    const { permutation: p, spaceX: gx, spaceY: gy, spaceZ: gz } = this;
    let sum = 0;
    let strength = 0.5;
    let scale = 1;
    const limit = +floor;
    const startX = +x;
    const startY = +y;
    const startZ = +z;
    for (let left = +octaves; left > 0; left--) {
      const px = startX * scale + scale;
      const py = startY * scale - scale;
      const pz = startZ * scale + 0.37 * scale;
      const x0 = Math.floor(px);
      const y0 = Math.floor(py);
      const z0 = Math.floor(pz);
      const fx = px - x0;
      const fy = py - y0;
      const fz = pz - z0;
      const away = fz - 1;
      const column = x0 & 255;
      const row = y0 & 255;
      const front = z0 & 255;
      const west = (p[column] as number) + row;
      const east = (p[column + 1] as number) + row;
      const a = (p[west] as number) + front;
      const b = (p[east] as number) + front;
      const c = (p[west + 1] as number) + front;
      const d = (p[east + 1] as number) + front;
      const u = fade(fx);
      const v = fade(fy);
      const near = lerp(
        lerp(slope3(gx, gy, gz, a, fx, fy, fz), slope3(gx, gy, gz, b, fx - 1, fy, fz), u),
        lerp(slope3(gx, gy, gz, c, fx, fy - 1, fz), slope3(gx, gy, gz, d, fx - 1, fy - 1, fz), u),
        v,
      );
      const far = lerp(
        lerp(slope3(gx, gy, gz, a + 1, fx, fy, away), slope3(gx, gy, gz, b + 1, fx - 1, fy, away), u),
        lerp(slope3(gx, gy, gz, c + 1, fx, fy - 1, away), slope3(gx, gy, gz, d + 1, fx - 1, fy - 1, away), u),
        v,
      );
      sum += strength * (left < 1 ? left : 1) * lerp(near, far, fade(fz));
      if (sum + strength * AT3_MAX < limit) return sum;
      scale *= 2.03;
      strength *= 0.5;
    }
    return sum;
  }
}

const slope3 = (
  gx: Float64Array,
  gy: Float64Array,
  gz: Float64Array,
  corner: number,
  x: number,
  y: number,
  z: number,
): number => (gx[corner] as number) * x + (gy[corner] as number) * y + (gz[corner] as number) * z;
