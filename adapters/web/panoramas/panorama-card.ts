import type { ObjectStorage } from "../../../application/ports/object-storage.js";
import { thumbnailNameOf } from "../../../domain/images/object-name.js";
import { RESOLUTIONS } from "../../../domain/images/resolution.js";
import { isKept, type KeptImage } from "../../../domain/images/storage-status.js";
import { PROMPT_CHARACTERS_MAX } from "../../../domain/tasks/creation-request.js";
import { type Slug, viewerPath } from "../../../domain/tasks/slug.js";
import type { SucceededTask, Task } from "../../../domain/tasks/task.js";
import { shortened } from "../../wording/shortened.js";
import { dateOf } from "../date.js";
import { type Html, html } from "../html.js";

export type Images = Pick<ObjectStorage, "urlOf">;

const TITLE_CHARACTERS_MAX = 80;
const SUMMARY_CHARACTERS_MAX = 160;

/** The start of the prompt on one line, or a default title without a prompt. For titles, headings and cards. */
export const titleOf = (task: Task): string => shortened(onOneLine(task), TITLE_CHARACTERS_MAX);

/** As `titleOf`, but longer, for descriptions in link previews. */
export const summaryOf = (task: Task): string => shortened(onOneLine(task), SUMMARY_CHARACTERS_MAX);

/** The prompt, if `titleOf` leaves a part of it out. Prompts of earlier versions may be longer than new ones can be. */
export const fullPromptOf = (task: Task): string | undefined =>
  titleOf(task) === onOneLine(task) ? undefined : shortened(task.request.prompt ?? "", PROMPT_CHARACTERS_MAX);

/** A character has at most two UTF-16 units. The end of a longer text is not read. */
const onOneLine = ({ request }: Task): string =>
  (request.prompt ?? "Panorama from images")
    .slice(0, 2 * PROMPT_CHARACTERS_MAX)
    .replace(/\s+/g, " ")
    .trim();

/** A panorama with a stored image. */
export type KeptTask = SucceededTask & { readonly image: KeptImage };

export const hasStoredImage = (task: Task): task is KeptTask => task.state === "succeeded" && isKept(task.image);

/** The image. What others must not see, its owner reads with the session (viewer-pages.ts). */
export const imageUrl = ({ image, slug, withheldReason }: KeptTask, images: Images): string =>
  withheldReason === undefined ? images.urlOf(image.imageName) : `/works/${slug}/picture.jpg`;

/** The thumbnail, or the image itself if it has none. */
export const thumbnailUrl = (task: KeptTask, images: Images): string => {
  const { image, slug, withheldReason } = task;
  if (image.status !== "saved") return imageUrl(task, images);
  return withheldReason === undefined
    ? images.urlOf(thumbnailNameOf(image.imageName))
    : `/works/${slug}/thumbnail.webp`;
};

/** Widths in pixels of the copies of a public panorama, besides its thumbnail (share-pages.ts). */
export const COPY_WIDTHS = [512, 768, 1536] as const;
export const THUMBNAIL_WIDTH = 1024;

/** The copies that a public panorama has: none is wider than the picture. */
export const copyWidthsOf = ({ request }: Task): readonly (typeof COPY_WIDTHS)[number][] =>
  COPY_WIDTHS.filter((width) => width <= RESOLUTIONS[request.resolution].widthPixels);

export const copyPath = (slug: Slug, width: (typeof COPY_WIDTHS)[number]): string => `/p/${slug}/${width}.webp`;

/**
 * How wide the picture of a tile is shown (client/gallery.css). It is wider than the tile, which shows its middle: 1.6
 * times on phones, and 1.92 times elsewhere, in columns of at least 21rem.
 */
const TILE_SIZES =
  "(max-width: 34rem) 160vw, (max-width: 42rem) 192vw, (max-width: 63rem) 96vw, (max-width: 84rem) 64vw, (max-width: 105rem) 48vw, 43rem";

/** The view of a public panorama from inside it, for its owner's list. */
export const TILE_FILE = "tile.webp";

/** A panorama in the gallery, its title over the picture. The whole tile is one link. */
export const galleryTile = (task: SucceededTask, images: Images): Html => {
  const { slug, request } = task;
  return html`<li><a href="${viewerPath(slug, request.visibility)}">
${hasStoredImage(task) && cardImage(task, images, TILE_SIZES)}
<span class="tile-text"><span class="tile-title" dir="auto">${titleOf(task)}</span>
<span class="tile-note">${dateOf(task.succeededAt)} · ${request.resolution.toUpperCase()} · Made with AI</span></span></a></li>`;
};

/**
 * The picture of a panorama in its owner's list: the view from inside a public one, and the middle of a private one,
 * whose pictures are made for nobody on demand.
 */
export const ownTilePicture = (task: KeptTask, images: Images): Html => {
  const { slug, request, withheldReason } = task;
  const isView = request.visibility === "public" && withheldReason === undefined;
  return html`<img${isView && html` class="view"`} src="${isView ? `/p/${slug}/${TILE_FILE}` : thumbnailUrl(task, images)}" alt="" width="${isView ? 720 : 1024}" height="${isView ? 540 : 512}" loading="lazy" decoding="async">`;
};

/**
 * `alt` is empty because the title of the card describes the image. `sizes` says how wide it is shown, so that browsers
 * choose among the copies of a public panorama.
 */
export const cardImage = (task: KeptTask, images: Images, sizes: string): Html => {
  const { image, request } = task;
  const { resolution, visibility } = request;
  const url = thumbnailUrl(task, images);
  const width = image.status === "saved" ? THUMBNAIL_WIDTH : RESOLUTIONS[resolution].widthPixels;
  const sources = [...copyWidthsOf(task).map((copy) => `${copyPath(task.slug, copy)} ${copy}w`), `${url} ${width}w`];
  return html`<img src="${url}"${visibility === "public" && html` srcset="${sources.join(", ")}" sizes="${sizes}"`} alt="" width="1024" height="512" loading="lazy" decoding="async">`;
};
