import type { ResultFigures } from "../../domain/images/picture.js";
import { bestView } from "./best-view.js";
import { at, type RawPanorama } from "./raw-panorama.js";

/**
 * The seam is compared with so many pairs of neighbouring columns, evenly over the width. They lie at borders of JPEG's
 * blocks, which are small steps in a JPEG: the seam is such a border, too.
 */
const COMPARED_PAIRS = 60;
const BLOCK_COLUMNS = 16;
/** Distance of the rows that are read in these columns: the mean hardly changes, and each row costs a memory access. */
const COMPARED_ROWS = 4;
/** A smaller difference in levels is invisible, so a ratio to it means nothing. */
const DIFFERENCE_MIN = 1;

/** The size of the grid in which the horizon is looked for, and the pixels that are averaged in each of its cells. */
const STRIPS = 16;
const ROWS = 128;
const SAMPLES_ACROSS = 8;
const SAMPLES_DOWN = 3;
/** The horizon is a step between the means of so many rows of the grid above it and below it. */
const STEP_ROWS = 3;
/** A horizon is not looked for above and below this part of the height. */
const HORIZON_MIN = 0.2;
const HORIZON_MAX = 0.8;
/** In a strip with a horizon, its step has so many levels, and is so many times as large as the mean of all steps. */
const STEP_MIN = 10;
const STEP_RATIO_MIN = 3;
/** In so many strips the horizon is at most so far from its median, as a part of the height. */
const AGREEING_STRIPS = 0.7;
const AGREEING_DISTANCE = 0.03;

/** Measures a panorama before its seam is blended (domain/images/picture.ts). */
export const measuresOf = (raw: RawPanorama): Omit<ResultFigures, "seam"> => {
  const grid = gridOf(raw);
  return {
    seamRatio: rounded(seamRatioOf(raw)),
    poleDeviation: { zenith: rounded(deviationOf(raw, 0)), nadir: rounded(deviationOf(raw, raw.height - 1)) },
    horizon: horizonOf(grid, raw.channels),
    view: bestView(raw),
    colour: colourOf(grid, raw.channels),
  };
};

const rounded = (figure: number): number => Math.round(figure * 100) / 100;

const seamRatioOf = (raw: RawPanorama): number => {
  const { width } = raw;
  const step = meanDifference(raw, width - 1, 0, 1);
  const borders = Math.floor((width - 1) / BLOCK_COLUMNS);
  const pairs = Math.min(COMPARED_PAIRS, borders);
  let elsewhere = 0;
  for (let n = 0; n < pairs; n += 1) {
    const x = BLOCK_COLUMNS * (1 + Math.floor((n * borders) / pairs));
    elsewhere += meanDifference(raw, x - 1, x, COMPARED_ROWS) / pairs;
  }
  return step / Math.max(DIFFERENCE_MIN, elsewhere);
};

/** The mean difference between two columns, in every so many rows. */
const meanDifference = (raw: RawPanorama, x: number, other: number, every: number): number => {
  const { data, height, channels } = raw;
  let [sum, count] = [0, 0];
  for (let y = 0; y < height; y += every) {
    const a = at(raw, x, y);
    const b = at(raw, other, y);
    for (let c = 0; c < channels; c += 1) sum += Math.abs((data[a + c] ?? 0) - (data[b + c] ?? 0));
    count += channels;
  }
  return sum / count;
};

/** The standard deviation of a row: the root of the mean variance of its channels. */
const deviationOf = (raw: RawPanorama, y: number): number => {
  const { data, width, channels } = raw;
  const from = at(raw, 0, y);
  let variances = 0;
  for (let c = 0; c < channels; c += 1) {
    let [sum, squares] = [0, 0];
    for (let x = 0; x < width; x += 1) {
      const value = data[from + x * channels + c] ?? 0;
      sum += value;
      squares += value * value;
    }
    variances += squares / width - (sum / width) ** 2;
  }
  return Math.sqrt(Math.max(0, variances / channels));
};

/**
 * The horizon of a landscape is the row where sky and ground meet, at the same height all around. It is looked for in
 * each of several strips, and is clear if most of them have a step of their own at nearly the same height.
 */
const horizonOf = (grid: Float32Array, channels: number): number | undefined => {
  const heights: number[] = [];
  for (let strip = 0; strip < STRIPS; strip += 1) {
    const height = stepOf(grid, strip, channels);
    if (height !== undefined) heights.push(height);
  }
  heights.sort((a, b) => a - b);
  const median = heights[Math.floor(heights.length / 2)];
  if (median === undefined) return undefined;
  const agreeing = heights.filter((height) => Math.abs(height - median) <= AGREEING_DISTANCE);
  if (agreeing.length < AGREEING_STRIPS * STRIPS) return undefined;
  return rounded(agreeing.reduce((sum, height) => sum + height, 0) / agreeing.length);
};

/** The mean of the cells. A grey picture has one channel for all three. */
const colourOf = (grid: Float32Array, channels: number): ResultFigures["colour"] => {
  const means = [0, 1, 2].map((c) => {
    let sum = 0;
    for (let n = channels < 3 ? 0 : c; n < grid.length; n += channels) sum += grid[n] ?? 0;
    return Math.round((sum * channels) / grid.length);
  });
  return `#${means.map((mean) => mean.toString(16).padStart(2, "0")).join("")}`;
};

/** The mean colours of the cells, row by row. */
const gridOf = (raw: RawPanorama): Float32Array => {
  const { data, width, height, channels } = raw;
  const grid = new Float32Array(ROWS * STRIPS * channels);
  const share = 1 / (SAMPLES_ACROSS * SAMPLES_DOWN);
  const [across, down] = [STRIPS * SAMPLES_ACROSS, ROWS * SAMPLES_DOWN];
  for (let n = 0; n < down; n += 1) {
    const y = Math.floor(((n + 0.5) * height) / down);
    const row = Math.floor(n / SAMPLES_DOWN);
    for (let m = 0; m < across; m += 1) {
      const from = at(raw, Math.floor(((m + 0.5) * width) / across), y);
      const cell = (row * STRIPS + Math.floor(m / SAMPLES_ACROSS)) * channels;
      for (let c = 0; c < channels; c += 1) grid[cell + c] = (grid[cell + c] ?? 0) + (data[from + c] ?? 0) * share;
    }
  }
  return grid;
};

/** The height of the largest step in a strip of the grid; `undefined` if it is small or hardly larger than others. */
const stepOf = (grid: Float32Array, strip: number, channels: number): number | undefined => {
  let [largest, where, sum, count] = [0, 0, 0, 0];
  for (let row = Math.ceil(HORIZON_MIN * ROWS); row <= HORIZON_MAX * ROWS; row += 1) {
    let step = 0;
    for (let c = 0; c < channels; c += 1) {
      let difference = 0;
      for (let k = 0; k < STEP_ROWS; k += 1) {
        difference +=
          (grid[((row + k) * STRIPS + strip) * channels + c] ?? 0) -
          (grid[((row - 1 - k) * STRIPS + strip) * channels + c] ?? 0);
      }
      step += Math.abs(difference) / (STEP_ROWS * channels);
    }
    if (step > largest) [largest, where] = [step, row];
    sum += step;
    count += 1;
  }
  return largest >= STEP_MIN && largest >= STEP_RATIO_MIN * (sum / count) ? where / ROWS : undefined;
};
