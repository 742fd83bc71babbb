import type { ObjectStorage } from "../../application/ports/object-storage.js";
import { thumbnailNameOf } from "../../domain/object-name.js";
import { viewerPath } from "../../domain/slug.js";
import { isKept, type SavedImage, type SavedWithoutThumbnail } from "../../domain/storage-status.js";
import type { SucceededTask, Task } from "../../domain/task.js";
import { dateOf } from "./date.js";
import { type Html, html } from "./html.js";

export type Images = Pick<ObjectStorage, "urlOf">;

/** What people call a panorama. */
export const titleOf = ({ request }: Task): string => request.prompt ?? "A panorama from pictures";

/** The smallest picture there is of a kept image. */
export const thumbnailUrl = ({ status, imageName }: SavedImage | SavedWithoutThumbnail, images: Images): string =>
  images.urlOf(status === "saved" ? thumbnailNameOf(imageName) : imageName);

/** A kept panorama in the gallery: the whole card is one link. */
export const galleryCard = (task: SucceededTask, images: Images): Html => {
  const { image, slug, request } = task;
  return html`<li class="card"><a href="${viewerPath(slug, request.visibility)}">
${isKept(image) && picture(thumbnailUrl(image, images))}
<span class="card-text"><span class="card-title">${titleOf(task)}</span>
<span class="card-note">${dateOf(task.succeededAt)} · ${request.resolution.toUpperCase()}</span></span></a></li>`;
};

/** The card's title says it all already. */
export const picture = (url: string): Html =>
  html`<img src="${url}" alt="" width="512" height="256" loading="lazy" decoding="async">`;
