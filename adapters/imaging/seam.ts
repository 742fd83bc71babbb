import { at, type RawPanorama } from "./raw-panorama.js";

/** A seam above this is visible, and blended. Below it, the texture of the picture hides it. */
export const SEAM_VISIBLE = 3;

/** The seam may be visible in a part of the height only. */
const STRIPES = 8;
/** The columns at each edge that the seam is compared with: more than a block of JPEG, whose borders are steps, too. */
const NEIGHBOURS = 9;
/** A pair of columns may differ by this much more than its neighbours, just because of noise. */
const NOISE = 1.5;

/** The width of the band at each edge that absorbs the difference in brightness and colour, and of the inner band. */
const BAND_SHARE = 1 / 24;
const INNER_SHARE = 1 / 256;
/** The difference is averaged over this many columns at each edge, and rows above and below. */
const AVERAGED_COLUMNS = 4;
const AVERAGED_SHARE = 1 / 96;

/** Blending is interrupted after this many rows, because requests are answered on the same thread. */
const ROWS_AT_ONCE = 32;

/**
 * The seam between the right and the left edge (domain/images/picture.ts). For each of eight stripes: how many levels
 * more the first and the last column differ than neighbouring columns there. Returns the largest of these.
 */
export const seamOf = (raw: RawPanorama): number => {
  let seam = 0;
  for (let stripe = 0; stripe < STRIPES; stripe += 1) {
    const from = Math.floor((stripe * raw.height) / STRIPES);
    const to = Math.floor(((stripe + 1) * raw.height) / STRIPES);
    if (to === from) continue;
    const rows = { from, to };
    let neighbours = 0;
    for (let k = 0; k < Math.min(NEIGHBOURS, raw.width - 1); k += 1) {
      neighbours = Math.max(
        neighbours,
        difference(raw, rows, k, k + 1),
        difference(raw, rows, raw.width - 1 - k, raw.width - 2 - k),
      );
    }
    seam = Math.max(seam, difference(raw, rows, raw.width - 1, 0) - NOISE * neighbours);
  }
  return Math.round(seam * 10) / 10;
};

/** Rows of a panorama, without `to`. */
type Rows = { readonly from: number; readonly to: number };

/** The mean difference of two columns in these rows. */
const difference = (raw: RawPanorama, { from, to }: Rows, x: number, other: number): number => {
  const { data, channels } = raw;
  let sum = 0;
  for (let y = from; y < to; y += 1) {
    const [a, b] = [at(raw, x, y), at(raw, other, y)];
    for (let c = 0; c < channels; c += 1) sum += Math.abs((data[a + c] ?? 0) - (data[b + c] ?? 0));
  }
  return sum / ((to - from) * channels);
};

/**
 * Removes the seam, in linear light. A band at each edge absorbs the difference between the two edges, averaged over
 * some rows, so that the texture stays. What remains, the texture that does not fit, is mixed in a narrow inner band
 * with its mirror image beyond the edge.
 */
export const blendSeam = async (raw: RawPanorama): Promise<void> => {
  const { data, width, height, channels } = raw;
  const band = Math.min(Math.floor(width / 2), Math.ceil(width * BAND_SHARE));
  const inner = Math.min(band, Math.max(2, Math.ceil(width * INNER_SHARE)));
  const bandWeights = weights(band);
  const innerWeights = weights(inner);
  const steps = averagedSteps(raw);
  const levels = encodedLevels();
  const encoded = (value: number): number => levels[Math.round(LEVELS_MAX * Math.min(1, Math.max(0, value)))] ?? 0;
  const [left, right] = [new Float32Array(band), new Float32Array(band)];
  for (let y = 0; y < height; y += 1) {
    if (y % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    for (let c = 0; c < channels; c += 1) {
      const half = (steps[y * channels + c] ?? 0) / 2;
      for (let k = 0; k < band; k += 1) {
        const shift = half * (bandWeights[k] ?? 0);
        left[k] = linear(data[at(raw, k, y) + c]) - shift;
        right[k] = linear(data[at(raw, width - 1 - k, y) + c]) + shift;
      }
      for (let k = 0; k < band; k += 1) {
        const [l, r] = [left[k] ?? 0, right[k] ?? 0];
        const other = k < inner ? (innerWeights[k] ?? 0) / 2 : 0;
        data[at(raw, k, y) + c] = encoded(l + other * (r - l));
        data[at(raw, width - 1 - k, y) + c] = encoded(r + other * (l - r));
      }
    }
    repeatEdges(raw, y);
  }
};

/** From nearly 1 at the edge to nearly 0, smoothly. */
const weights = (length: number): Float32Array =>
  Float32Array.from({ length }, (_, k) => (1 + Math.cos((Math.PI * (k + 0.5)) / length)) / 2);

/** By row and channel: how much brighter the left edge is than the right one, averaged over columns and rows. */
const averagedSteps = (raw: RawPanorama): Float32Array => {
  const { data, width, height, channels } = raw;
  const columns = Math.min(AVERAGED_COLUMNS, width);
  let steps = new Float32Array(height * channels);
  for (let y = 0; y < height; y += 1) {
    for (let c = 0; c < channels; c += 1) {
      let sum = 0;
      for (let k = 0; k < columns; k += 1) {
        sum += linear(data[at(raw, k, y) + c]) - linear(data[at(raw, width - 1 - k, y) + c]);
      }
      steps[y * channels + c] = sum / columns;
    }
  }
  const radius = Math.max(1, Math.round(height * AVERAGED_SHARE));
  // Two running means are close to a Gaussian filter.
  for (let pass = 0; pass < 2; pass += 1) steps = runningMean(steps, height, channels, radius);
  return steps;
};

const runningMean = (
  values: Float32Array,
  height: number,
  channels: number,
  radius: number,
): Float32Array<ArrayBuffer> => {
  const means = new Float32Array(values.length);
  for (let c = 0; c < channels; c += 1) {
    let [sum, count] = [0, 0];
    for (let y = -radius; y < height; y += 1) {
      const [enters, leaves] = [y + radius, y - radius - 1];
      if (enters < height) [sum, count] = [sum + (values[enters * channels + c] ?? 0), count + 1];
      if (leaves >= 0) [sum, count] = [sum - (values[leaves * channels + c] ?? 0), count - 1];
      if (y >= 0) means[y * channels + c] = sum / count;
    }
  }
  return means;
};

const repeatEdges = (raw: RawPanorama, y: number): void => {
  const { data, width, left } = raw;
  if (left === 0) return;
  data.copyWithin(at(raw, -left, y), at(raw, width - left, y), at(raw, width, y));
  data.copyWithin(at(raw, width, y), at(raw, 0, y), at(raw, left, y));
};

const TO_LINEAR = Float32Array.from({ length: 256 }, (_, level) => {
  const value = level / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
});

const linear = (level: number | undefined): number => TO_LINEAR[level ?? 0] ?? 0;

/** Fine enough for exact dark levels. */
const LEVELS_MAX = 65_535;

/** The level of each linear value from 0 to 1, in equal steps: computing a power for each pixel takes much longer. */
const encodedLevels = (): Uint8Array =>
  Uint8Array.from({ length: LEVELS_MAX + 1 }, (_, n) => {
    const value = n / LEVELS_MAX;
    return Math.round(255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055));
  });
