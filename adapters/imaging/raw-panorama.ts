/** A decoded panorama: rows of 8-bit sRGB pixels, each with `left` columns before it and after it that repeat it. */
export type RawPanorama = {
  readonly data: Uint8Array;
  /** Without the columns before and after it. */
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly left: number;
};

/** The index in `data` of a pixel's first channel. */
export const at = ({ width, channels, left }: RawPanorama, x: number, y: number): number =>
  (y * (width + 2 * left) + left + x) * channels;

/** The smallest and the largest value, by channel, of pixels of the panorama. */
export const rangeOf = (raw: RawPanorama, pixels: Iterable<readonly [x: number, y: number]>): number => {
  const { data, channels } = raw;
  const least = new Array<number>(channels).fill(255);
  const most = new Array<number>(channels).fill(0);
  for (const [x, y] of pixels) {
    const from = at(raw, x, y);
    for (let c = 0; c < channels; c += 1) {
      const value = data[from + c] ?? 0;
      if (value < (least[c] ?? 0)) least[c] = value;
      if (value > (most[c] ?? 0)) most[c] = value;
    }
  }
  return Math.max(...most.map((value, c) => value - (least[c] ?? 0)));
};
