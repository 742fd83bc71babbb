import type { PixelSize } from "../../domain/images/resolution.js";

/*
 * The file with the tiles of a panorama. It begins with its index: JSON, padded with spaces to `INDEX_BYTES`. The tiles
 * follow as WebP, row by row, without gaps. One file, of which viewers read ranges: so it is stored, renamed and
 * deleted as a thumbnail is, and exists as a whole or not at all.
 *
 * The tiles are parts of the equirectangular picture, as they are: six faces of a cube would have to be resampled, with
 * a fifth more pixels for the same detail, and the viewer draws an equirectangular picture anyway.
 */

export const INDEX_BYTES = 1024;
/** Degrees that a tile is wide and high: of a 4k panorama, it has 640 × 640 pixels. */
const TILE_DEGREES = 60;
/** Of a larger panorama, the tiles have half of these degrees, and so on. */
const TILE_PIXELS_MAX = 800;

/** The index. `sizes`: bytes of each tile. */
export type TileIndex = {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
  readonly sizes: readonly number[];
};

/** Part of a picture, in pixels. */
export type Part = { readonly left: number; readonly top: number; readonly width: number; readonly height: number };

export type Grid = Pick<TileIndex, "columns" | "rows">;

export const gridOf = ({ widthPixels }: PixelSize): Grid => {
  let columns = 360 / TILE_DEGREES;
  while (widthPixels / columns > TILE_PIXELS_MAX) columns *= 2;
  return { columns, rows: columns / 2 };
};

/** The parts that the tiles show, row by row. */
export const partsOf = ({ widthPixels, heightPixels }: PixelSize, { columns, rows }: Grid): readonly Part[] =>
  Array.from({ length: columns * rows }, (_, n) => {
    const [column, row] = [n % columns, Math.floor(n / columns)];
    const [left, right] = [column, column + 1].map((at) => Math.round((at * widthPixels) / columns)) as [
      number,
      number,
    ];
    const [top, bottom] = [row, row + 1].map((at) => Math.round((at * heightPixels) / rows)) as [number, number];
    return { left, top, width: right - left, height: bottom - top };
  });

export const tileFile = (
  { widthPixels: width, heightPixels: height }: PixelSize,
  { columns, rows }: Grid,
  tiles: readonly Uint8Array[],
): Uint8Array => {
  const index: TileIndex = { width, height, columns, rows, sizes: tiles.map(({ length }) => length) };
  return Buffer.concat([Buffer.from(JSON.stringify(index).padEnd(INDEX_BYTES)), ...tiles]);
};
