import type { ObjectStorage } from "../../application/ports/object-storage.js";
import { thumbnailNameOf } from "../../domain/object-name.js";
import { viewerPath } from "../../domain/slug.js";
import { isKept, type SavedImage, type SavedWithoutThumbnail } from "../../domain/storage-status.js";
import type { SucceededTask, Task } from "../../domain/task.js";
import { shortened } from "../wording/shortened.js";
import { dateOf } from "./date.js";
import { type Html, html } from "./html.js";

export type Images = Pick<ObjectStorage, "urlOf">;

const TITLE_CHARACTERS_MAX = 120;

/** The beginning of the prompt, or a default title for a panorama without one. */
export const titleOf = ({ request }: Task): string =>
  shortened(request.prompt ?? "Panorama from images", TITLE_CHARACTERS_MAX);

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
  html`<img src="${url}" alt="" width="512" height="256" loading="lazy" decoding="async">`;
