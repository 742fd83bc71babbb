import type { ObjectStorage } from "../../../application/ports/object-storage.js";
import { panoramaName, thumbnailNameOf } from "../../../domain/images/object-name.js";
import { startViewText } from "../../../domain/images/picture.js";
import { sourceLabel } from "../../../domain/images/source-type.js";
import { isPermanent, type PermanentImage } from "../../../domain/images/storage-status.js";
import { type Slug, viewerPath } from "../../../domain/tasks/slug.js";
import { type SucceededTask, startViewOf, type Task } from "../../../domain/tasks/task.js";
import { cutAtWord } from "../../wording/shown.js";
import { type Html, html } from "../html.js";
import { dateOf } from "../texts.js";

export type Images = Pick<ObjectStorage, "urlOf">;

const TITLE_CHARACTERS_MAX = 80;
const SUMMARY_CHARACTERS_MAX = 160;

/** The start of the prompt on one line, or a default title without a prompt. For titles, headings and cards. */
export const titleOf = (task: Task): string => startOf(task, TITLE_CHARACTERS_MAX);

/** As `titleOf`, but longer, for descriptions in link previews. */
export const summaryOf = (task: Task): string => startOf(task, SUMMARY_CHARACTERS_MAX);

const startOf = (task: Task, charactersMax: number): string =>
  task.request.prompt === undefined ? "Panorama from images" : cutAtWord(onOneLine(task), charactersMax);

/** The prompt, if `titleOf` leaves a part of it out. */
export const fullPromptOf = (task: Task): string | undefined =>
  task.request.prompt === undefined || titleOf(task) === onOneLine(task) ? undefined : task.request.prompt;

const onOneLine = ({ request }: Task): string => (request.prompt ?? "Panorama from images").replace(/\s+/g, " ").trim();

const FILE_CHARACTERS_MAX = 48;
const SLUG_CHARACTERS = 6;

/**
 * The name of a downloaded file without its ending: the words of the title, and the beginning of the slug, because two
 * panoramas may have one title.
 */
export function fileNameOf(task: Task): string {
  const words =
    onOneLine(task)
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const named = cutAtWord(words.join(" "), FILE_CHARACTERS_MAX).replace("…", "").trim().replaceAll(" ", "-");
  return `${named || "panorama"}-${task.slug.slice(0, SLUG_CHARACTERS)}`;
}

/** A panorama with a stored image. */
export type ViewableTask = SucceededTask & { readonly image: PermanentImage };

export const hasPermanentImage = (task: Task): task is ViewableTask =>
  task.state === "succeeded" && isPermanent(task.image);

/** URL of the image. Hidden images have a URL that only the session of the owner opens (viewer-pages.ts). */
export const imageUrl = ({ image, slug, hiddenReason }: ViewableTask, images: Images): string =>
  hiddenReason === undefined ? images.urlOf(image.imageName) : `/works/${slug}/picture.jpg`;

/** The thumbnail, or the image itself if it has none. */
export function thumbnailUrl(task: ViewableTask, images: Images): string {
  const { image, slug, hiddenReason } = task;
  if (image.status !== "saved") return imageUrl(task, images);
  return hiddenReason === undefined ? images.urlOf(thumbnailNameOf(image.imageName)) : `/works/${slug}/thumbnail.webp`;
}

/** The width in pixels of the small copy of a public panorama (share-pages.ts). Its thumbnail is twice as wide. */
export const COPY_WIDTH = 512;

export const copyPath = (slug: Slug): string => `/p/${slug}/${COPY_WIDTH}.webp`;

/** Widths in pixels of the views of a public panorama in tiles (share-pages.ts). One of 1k has no sharper one. */
export const TILE_WIDTHS = [480, 960] as const;

export const tileWidthsOf = ({ request }: Task): readonly (typeof TILE_WIDTHS)[number][] =>
  request.resolution === "1k" ? [480] : TILE_WIDTHS;

/** Added to the address of a view. It changes with the view, so that no cache has an earlier one. */
export function viewVersion(task: SucceededTask): string {
  const view = startViewOf(task);
  return view === undefined ? "" : `?v=${startViewText(view)}`;
}

/** Width of a tile (client/styles/gallery.css), in columns of at least 21rem. */
const TILE_SIZES = "(max-width: 42rem) 100vw, (max-width: 63rem) 50vw, (max-width: 84rem) 34vw, 25vw";

/**
 * A panorama in the gallery, its title over the picture. The whole tile is one link. `isSoon`: its picture is loaded
 * at once, and not when the reader comes near.
 */
export function galleryTile(task: SucceededTask, isSoon: boolean): Html {
  const { slug, request } = task;
  return html`<li><a class="dark" href="${viewerPath(slug, request.visibility)}">
${hasPermanentImage(task) && tileImage(task, isSoon)}
<span class="tile-text"><span class="tile-title" dir="auto">${titleOf(task)}</span>
<span class="tile-note">${dateOf(task.succeededAt)} · ${request.resolution.toUpperCase()} · ${sourceLabel(task.sourceType)}</span></span></a></li>`;
}

/**
 * Image of the first view of the viewer, on the colour of the panorama. `alt` is empty because the title of the tile
 * describes it. The content security policy forbids a style with the colour.
 */
function tileImage(task: ViewableTask, isSoon = false): Html {
  const urlOf = (width: number) => `/p/${task.slug}/tile-${width}.webp${viewVersion(task)}`;
  const sources = tileWidthsOf(task).map((width) => `${urlOf(width)} ${width}w`);
  const { colour } = task.figures ?? {};
  return html`${colour !== undefined && html`<svg class="colour" aria-hidden="true"><rect width="100%" height="100%" fill="${colour}"/></svg>`}
<img src="${urlOf(480)}" srcset="${sources.join(", ")}" sizes="${TILE_SIZES}" alt="" width="960" height="720"${!isSoon && html` loading="lazy"`} decoding="async">`;
}

/**
 * The picture of a panorama in its owner's list: as in the gallery if it is public, and else the middle of its
 * thumbnail, because views are made on demand for public ones only.
 */
export const ownTilePicture = (task: ViewableTask, images: Images): Html =>
  task.request.visibility === "public" && task.hiddenReason === undefined
    ? tileImage(task)
    : html`<img src="${thumbnailUrl(task, images)}" alt="" width="1024" height="512" loading="lazy" decoding="async">`;

/** The origin of image URLs. It is the same for all images, so any object name gives it. */
export const imageOrigin = (images: Images): string => new URL(images.urlOf(panoramaName("x".repeat(22)))).origin;
