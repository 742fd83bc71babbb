import type { ObjectStorage } from "../../application/ports/object-storage.js";
import { PROMPT_CHARACTERS_MAX } from "../../domain/creation-request.js";
import { thumbnailNameOf } from "../../domain/object-name.js";
import { viewerPath } from "../../domain/slug.js";
import { isKept, type SavedImage, type SavedWithoutThumbnail } from "../../domain/storage-status.js";
import type { SucceededTask, Task } from "../../domain/task.js";
import { shortened } from "../wording/shortened.js";
import { dateOf } from "./date.js";
import { type Html, html } from "./html.js";

export type Images = Pick<ObjectStorage, "urlOf">;

const TITLE_CHARACTERS_MAX = 80;
const SUMMARY_CHARACTERS_MAX = 160;

/** The beginning of the prompt on one line, or a default title for a panorama without one. For titles, headings and cards. */
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

/** The thumbnail, or the image itself if it has none. */
export const thumbnailUrl = ({ status, imageName }: SavedImage | SavedWithoutThumbnail, images: Images): string =>
  images.urlOf(status === "saved" ? thumbnailNameOf(imageName) : imageName);

/** A panorama in the gallery, its title over the picture. The whole tile is one link. */
export const galleryTile = (task: SucceededTask, images: Images): Html => {
  const { image, slug, request } = task;
  return html`<li><a href="${viewerPath(slug, request.visibility)}">
${isKept(image) && cardImage(thumbnailUrl(image, images))}
<span class="tile-text"><span class="tile-title" dir="auto">${titleOf(task)}</span>
<span class="tile-note">${dateOf(task.succeededAt)} · ${request.resolution.toUpperCase()}</span></span></a></li>`;
};

/** `alt` is empty because the title of the card describes the image. */
export const cardImage = (url: string): Html =>
  html`<img src="${url}" alt="" width="1024" height="512" loading="lazy" decoding="async">`;
