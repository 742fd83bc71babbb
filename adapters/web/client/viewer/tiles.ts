import type { Sphere } from "./sphere.js";

/** As in adapters/imaging/tile-file.ts, like the formula of the grid: scripts of pages import nothing of the server. */
const INDEX_BYTES = 1024;
const AT_ONCE = 4;
/** Tiles are loaded in a window that is larger by this factor, so that a slow turn meets none that is blurred. */
const MARGIN = 1.25;
/** Points in each direction at which it is looked for tiles in sight. */
const PROBES = 13;
const LOOK_MILLISECONDS = 100;

type Index = {
  readonly width: number;
  readonly height: number;
  readonly columns: number;
  readonly rows: number;
  /** Bytes of each tile, row by row. */
  readonly sizes: readonly number[];
};

/** A file with tiles. */
type Source = { readonly index: Index; readonly tile: (n: number) => Promise<Blob> };

type Options = {
  /** It shows the preview of the panorama. */
  readonly sphere: Sphere;
  /** Everything will be seen, in a headset. */
  readonly seesAll: () => boolean;
  /** A tile is shown, or has failed; `done` of 1 of those in sight are shown. */
  readonly onTile: (done: number, hasFailed: boolean) => void;
};

export type Tiles = {
  /** The view has changed: loads what has come in sight, what is nearest to the middle first. */
  readonly look: () => void;
  /** Resolves when all tiles are shown. */
  readonly loadAll: () => Promise<void>;
  readonly stop: () => void;
};

/** Rejects if there are none, or if nobody serves ranges of their file. */
export const openTiles = async (url: string): Promise<Source> => {
  const read = async (name: number | string, from: number, length: number): Promise<Blob> => {
    // Chrome lets one request at a time write what it keeps of an address, so each tile has an address of its own.
    const answer = await fetch(`${url}?${name}`, { headers: { range: `bytes=${from}-${from + length - 1}` } });
    if (answer.status === 206) return answer.blob();
    void answer.body?.cancel();
    throw new Error(`${url} answered ${answer.status}`);
  };
  const index: Index = JSON.parse(await (await read("index", 0, INDEX_BYTES)).text());
  const starts = index.sizes.map((_, n) => index.sizes.slice(0, n).reduce((sum, size) => sum + size, INDEX_BYTES));
  return { index, tile: (n) => read(n, starts[n] ?? 0, index.sizes[n] ?? 0) };
};

/** Replaces the preview by tiles, where the reader looks. */
export const showTiles = ({ index, tile }: Source, { sphere, seesAll, onTile }: Options): Tiles => {
  const { columns, rows, sizes } = index;
  /** The graphics card may take no picture that is as wide. */
  const scale = Math.min(1, sphere.widthMax / index.width);
  const [width, height] = [Math.round(index.width * scale), Math.round(index.height * scale)];
  const grown = sphere.grow({ width, height });
  const begun = new Set<number>();
  const shown = new Set<number>();
  let isStopped = false;
  let takesAll = false;
  let timer = 0;
  let settle: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;

  /** Those in the window, and then those around it. */
  const inSight = (margin = MARGIN): readonly number[] => {
    const seen = new Set<number>();
    for (const [x, y] of POINTS) {
      if (Math.max(Math.abs(x), Math.abs(y)) > margin) break;
      const { yaw, pitch } = sphere.directionAt(x, y, sphere.view);
      const row = Math.min(rows - 1, Math.floor(((90 - pitch) / 180) * rows));
      seen.add(row * columns + (Math.floor(((yaw + 180) / 360) * columns) % columns));
    }
    return takesAll || seesAll() ? [...new Set([...seen, ...sizes.keys()])] : [...seen];
  };

  const load = async (n: number): Promise<void> => {
    const [column, row] = [n % columns, Math.floor(n / columns)];
    const [left, right] = [column, column + 1].map((at) => Math.round((at * width) / columns)) as [number, number];
    const [top, bottom] = [row, row + 1].map((at) => Math.round((at * height) / rows)) as [number, number];
    const size = scale < 1 ? { resizeWidth: right - left, resizeHeight: bottom - top } : {};
    const [picture] = await Promise.all([tile(n).then((blob) => createImageBitmap(blob, size)), grown]);
    if (!isStopped) await sphere.put(picture, left, top);
    picture.close();
    shown.add(n);
  };

  const look = (): void => {
    timer = 0;
    if (isStopped) return;
    for (const n of inSight()) {
      if (begun.has(n)) continue;
      if (begun.size - shown.size >= AT_ONCE) return;
      begun.add(n);
      load(n).then(
        () => settled(false),
        (error) => {
          begun.delete(n); // the next view tries it again
          settle?.reject(error);
          settled(true);
        },
      );
    }
  };

  const settled = (hasFailed: boolean): void => {
    if (isStopped) return;
    if (!hasFailed) look();
    const wanted = inSight(1);
    onTile(wanted.filter((n) => shown.has(n)).length / wanted.length, hasFailed);
    if (shown.size === sizes.length) settle?.resolve();
  };

  look();
  return {
    look: () => {
      if (timer === 0) timer = setTimeout(look, LOOK_MILLISECONDS);
    },
    loadAll: () => {
      takesAll = true;
      look();
      return new Promise((resolve, reject) => {
        if (shown.size === sizes.length) resolve();
        else settle = { resolve, reject };
      });
    },
    stop: () => {
      isStopped = true;
    },
  };
};

/** Any point of the window is nearer than those around it. */
const distanceOf = ([x, y]: readonly [number, number]): number =>
  Math.hypot(x, y) + (Math.max(Math.abs(x), Math.abs(y)) > 1 ? 9 : 0);

/** Points of the window from -1 to 1, and then around it, those in the middle first. */
const POINTS = Array.from({ length: PROBES ** 2 }, (_, n) => {
  const [x, y] = [n % PROBES, Math.floor(n / PROBES)].map((at) => MARGIN * ((2 * at) / (PROBES - 1) - 1));
  return [x ?? 0, y ?? 0] as const;
}).sort((a, b) => distanceOf(a) - distanceOf(b));
