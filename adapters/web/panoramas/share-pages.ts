import type { UseCases } from "../../../application/create-application.js";
import { type ObjectName, thumbnailNameOf } from "../../../domain/images/object-name.js";
import type { StartView } from "../../../domain/images/picture.js";
import type { PixelSize } from "../../../domain/images/resolution.js";
import type { PermanentImage } from "../../../domain/images/storage-status.js";
import { parseSlug, type Slug } from "../../../domain/tasks/slug.js";
import { type SucceededTask, startViewOf } from "../../../domain/tasks/task.js";
import { FOR_ANY_ORIGIN } from "../../web-page/any-origin.js";
import { isCached } from "../../web-page/cache-headers.js";
import type { Page, PageReply } from "../../web-page/page.js";
import { html } from "../html.js";
import type { Layout } from "../layout.js";
import {
  COPY_WIDTH,
  hasPermanentImage,
  TILE_WIDTHS,
  tileWidthsOf,
  titleOf,
  type ViewableTask,
  viewVersion,
} from "./panorama-card.js";

/**
 * Makes pictures of stored images; `undefined` while the image cannot be read, or while too many are being made.
 * `network`: of the visitor (`PageRequest.remoteAddress`).
 */
export type PicturesOnDemand = {
  /** The view of a panorama in link previews, as JPEG. */
  readonly socialImage: (
    image: ObjectName,
    size: PixelSize,
    view: StartView,
    network: string,
  ) => Promise<Uint8Array | undefined>;
  /** The view of a panorama in a tile, as WebP, 4:3. */
  readonly tile: (
    image: ObjectName,
    widthPixels: number,
    view: StartView,
    network: string,
  ) => Promise<Uint8Array | undefined>;
  /** A smaller copy, as WebP. */
  readonly resized: (image: ObjectName, widthPixels: number, network: string) => Promise<Uint8Array | undefined>;
  /** The grey from 0 to 255 that is as bright as its brightest part; `undefined` until it is measured. */
  readonly brightestGrey: (image: ObjectName) => number | undefined;
};

type Parts = {
  readonly panoramas: UseCases["panoramas"];
  readonly pictures: PicturesOnDemand;
  readonly publicUrl: string;
  readonly layout: Pick<Layout, "site">;
};

/** The size that link previews of social networks have. */
export const SOCIAL_IMAGE_SIZE: PixelSize = { widthPixels: 1200, heightPixels: 630 };

export const socialImageUrl = (publicUrl: string, task: SucceededTask): string =>
  `${publicUrl}/p/${task.slug}/social.jpg${viewVersion(task)}`;

/** Sizes of the picture, largest first. Smaller ones are for pages that ask for less. */
const SOCIAL_IMAGES = [1200, 600, 400, 200, 80].map((widthPixels) => ({
  file: widthPixels === SOCIAL_IMAGE_SIZE.widthPixels ? "social.jpg" : `social-${widthPixels}.jpg`,
  size: { widthPixels, heightPixels: (widthPixels * SOCIAL_IMAGE_SIZE.heightPixels) / SOCIAL_IMAGE_SIZE.widthPixels },
}));

/** The answer of oEmbed (https://oembed.com) for the address of a viewer. */
export const oembedUrl = (publicUrl: string, link: string): string =>
  `${publicUrl}/oembed?${new URLSearchParams({ url: link, format: "json" })}`;

/** The size of a frame with the viewer, unless the page that embeds it asks for a smaller one. */
const FRAME_SIZE: PixelSize = { widthPixels: 960, heightPixels: 540 };
const CACHE_SECONDS = 86_400;
const AHEAD: StartView = { yaw: 0, pitch: 0 };

/**
 * Views of a public panorama for pages and other sites: `GET /p/{slug}/social.jpg`, `GET /p/{slug}/social-{width}.jpg`,
 * `GET /p/{slug}/512.webp`, `GET /p/{slug}/tile-{width}.webp` and `GET /oembed?url=…&format=json`.
 */
export const sharePages = (parts: Parts): readonly Page[] => [
  ...SOCIAL_IMAGES.map(({ file, size }) =>
    picturePage(parts, file, "image/jpeg", (task, network) =>
      parts.pictures.socialImage(task.image.imageName, size, startViewOf(task) ?? AHEAD, network),
    ),
  ),
  ...TILE_WIDTHS.map((width) =>
    picturePage(parts, `tile-${width}.webp`, "image/webp", (task, network) =>
      tileWidthsOf(task).includes(width)
        ? parts.pictures.tile(task.image.imageName, width, startViewOf(task) ?? AHEAD, network)
        : "none",
    ),
  ),
  picturePage(parts, `${COPY_WIDTH}.webp`, "image/webp", (task, network) =>
    parts.pictures.resized(sourceOf(task.image), COPY_WIDTH, network),
  ),
  { method: "GET", path: "/oembed", body: "none", cost: "page", handle: ({ query }) => oembed(parts, query) },
];

/**
 * A picture of a public panorama, under the path of its viewer. `make` returns `none` if the panorama does not have it.
 */
const picturePage = (
  { panoramas }: Parts,
  file: string,
  contentType: string,
  make: (task: ViewableTask, network: string) => Promise<Uint8Array | undefined> | "none",
): Page => ({
  method: "GET",
  path: `/p/:slug/${file}`,
  body: "none",
  cost: "picture",
  handle: async ({ params, headers, remoteAddress }) => {
    const slug = parseSlug(params.slug ?? "");
    const task = slug && (await panoramas.findPublic(slug));
    if (!task || !hasPermanentImage(task)) return text(404, "There is no such picture.");
    const etag = `"${task.image.imageName}/${file}${viewVersion(task)}"`;
    if (isCached(headers["if-none-match"], etag)) return { status: 304, headers: caching(etag), body: undefined };
    const body = await make(task, remoteAddress);
    if (body === "none") return text(404, "There is no such picture.");
    if (body === undefined) return text(503, "The picture cannot be read now. Try again later.");
    return { status: 200, headers: { ...caching(etag), "content-type": contentType }, body };
  },
});

/** The thumbnail takes less time to read and to decode than the image. */
const sourceOf = ({ status, imageName }: PermanentImage): ObjectName =>
  status === "saved" ? thumbnailNameOf(imageName) : imageName;

const caching = (etag: string) => ({
  "cache-control": `public, max-age=${CACHE_SECONDS}`,
  "x-content-type-options": "nosniff",
  ...FOR_ANY_ORIGIN,
  etag,
});

const text = (status: number, sentence: string): PageReply => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  body: sentence,
});

/** The status codes are those of the oEmbed specification, section 2.3.4. */
const oembed = async ({ panoramas, publicUrl, layout }: Parts, query: URLSearchParams): Promise<PageReply> => {
  if ((query.get("format") ?? "json") !== "json") return text(501, "Only format=json is supported.");
  const slug = slugOf(query.get("url") ?? "", publicUrl);
  const task = slug && (await panoramas.findPublic(slug));
  if (!task || !hasPermanentImage(task)) return text(404, "There is no public panorama at this url.");
  const max = {
    widthPixels: pixelsOf(query.get("maxwidth")),
    heightPixels: pixelsOf(query.get("maxheight")),
  };
  const { widthPixels: width, heightPixels: height } = within(FRAME_SIZE, max);
  const thumbnail = SOCIAL_IMAGES.find(
    ({ size }) => size.widthPixels <= max.widthPixels && size.heightPixels <= max.heightPixels,
  );
  const title = String(titleOf(task));
  const frame = html`<iframe src="${publicUrl}/p/${task.slug}?embed=1" width="${width}" height="${height}" title="${title}" style="border:0;max-width:100%" loading="lazy" allow="fullscreen; gyroscope; accelerometer; xr-spatial-tracking" allowfullscreen></iframe>`;
  const answer = {
    version: "1.0",
    type: "rich",
    title,
    provider_name: layout.site.name,
    provider_url: `${publicUrl}/`,
    cache_age: CACHE_SECONDS,
    ...(thumbnail && {
      thumbnail_url: `${publicUrl}/p/${task.slug}/${thumbnail.file}${viewVersion(task)}`,
      thumbnail_width: thumbnail.size.widthPixels,
      thumbnail_height: thumbnail.size.heightPixels,
    }),
    html: frame.text,
    width,
    height,
  };
  return {
    status: 200,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "cache-control": "public, max-age=3600",
      "x-content-type-options": "nosniff",
      ...FOR_ANY_ORIGIN,
    },
    body: JSON.stringify(answer),
  };
};

function slugOf(link: string, publicUrl: string): Slug | undefined {
  if (!URL.canParse(link)) return undefined;
  const { origin, pathname } = new URL(link);
  const [, slug] = /^\/p\/([^/]+)\/*$/.exec(pathname) ?? []; // the page itself is redirected to the path without slashes
  return origin === new URL(publicUrl).origin ? parseSlug(slug ?? "") : undefined;
}

/** A limit that a page asks for; none if it is no number of pixels. */
const pixelsOf = (asked: string | null): number =>
  asked !== null && /^0*[1-9]\d{0,5}$/.test(asked) ? Number(asked) : Number.POSITIVE_INFINITY;

/** The largest size in the same proportion. Rounded: that passes no limit, because limits are whole pixels. */
function within(size: PixelSize, max: PixelSize): PixelSize {
  const scale = Math.min(1, max.widthPixels / size.widthPixels, max.heightPixels / size.heightPixels);
  const scaled = (pixels: number) => Math.max(1, Math.round(pixels * scale));
  return { widthPixels: scaled(size.widthPixels), heightPixels: scaled(size.heightPixels) };
}
