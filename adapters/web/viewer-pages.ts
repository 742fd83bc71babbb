import type { Visitor } from "../../application/accounts/find-session.js";
import type { FindOwnPanorama } from "../../application/panoramas/find-own-panorama.js";
import type { FindPublicPanorama } from "../../application/panoramas/find-public-panorama.js";
import { RESOLUTIONS } from "../../domain/resolution.js";
import { parseSlug, viewerPath } from "../../domain/slug.js";
import { isKept } from "../../domain/storage-status.js";
import { isActive, type Task } from "../../domain/task.js";
import type { Page, PageReply } from "../web-page/page.js";
import { pixelSize } from "../wording/pixel-size.js";
import { dateOf } from "./date.js";
import { type Html, html } from "./html.js";
import type { Content, Layout } from "./layout.js";
import { type Images, thumbnailUrl, titleOf } from "./panorama-card.js";
import type { SessionGuard } from "./session-guard.js";

type Parts = {
  readonly findPublicPanorama: FindPublicPanorama;
  readonly findOwnPanorama: FindOwnPanorama;
  readonly images: Images;
  readonly guard: SessionGuard;
  readonly layout: Layout;
  readonly publicUrl: string;
};

/** `GET /p/{slug}` and `GET /works/{slug}`: the viewer. With `?embed=1` it has no header, for frames in other pages. */
export const viewerPages = (parts: Parts): readonly Page[] => {
  const { findPublicPanorama, findOwnPanorama, guard, layout } = parts;
  return [
    {
      method: "GET",
      path: "/p/:slug",
      body: "none",
      handle: async (request) => {
        const visitor = await guard.visitor(request);
        const slug = parseSlug(request.params.slug ?? "");
        const task = slug && (await findPublicPanorama(slug));
        return task ? viewer(parts, task, visitor, request.query) : layout.notFound(visitor);
      },
    },
    {
      method: "GET",
      path: "/works/:slug",
      body: "none",
      handle: guard.member(async (request, visitor) => {
        const slug = parseSlug(request.params.slug ?? "");
        const task = slug && (await findOwnPanorama(slug, visitor.account.id));
        return task ? viewer(parts, task, visitor, request.query) : layout.notFound(visitor);
      }),
    },
  ];
};

const viewer = (
  { images, layout, publicUrl }: Parts,
  task: Task,
  visitor: Visitor | undefined,
  query: URLSearchParams,
): PageReply => {
  const title = titleOf(task);
  const isPublic = task.request.visibility === "public";
  const bare = query.get("embed") === "1";
  const frame: Content = {
    title,
    main: html``,
    visitor,
    styles: ["viewer.css"],
    frame: bare ? "bare" : "stage",
    embeddable: bare && isPublic,
  };
  const message = statusMessageOf(task);
  if (message !== undefined) {
    return layout.reply(200, { ...frame, main: message.main }, message.refresh ? { refresh: "3" } : {});
  }
  if (task.state !== "succeeded" || !isKept(task.image)) return layout.notFound(visitor);

  const { image } = task;
  const url = images.urlOf(image.imageName);
  const thumbnail = thumbnailUrl(image, images);
  const link = publicUrl + viewerPath(task.slug, task.request.visibility);
  const main = html`<div class="scene">
<img class="flat" id="flat" src="${thumbnail}" alt="${title}, as a flat image">
<div id="viewer" class="sphere" data-image="${url}" role="application" aria-label="${title}: 360° viewer. Drag, or use the arrow keys, to look around; plus and minus zoom."></div>
<div class="progress" id="progress" role="progressbar" aria-label="Loading the image" aria-valuemin="0" aria-valuemax="100" aria-valuenow="0"><span></span></div>
<p class="stage-note" id="stage-note" role="status" hidden></p>
<noscript><p class="stage-note">The viewer needs JavaScript. <a href="${url}">Show the flat image.</a></p></noscript>
<div class="controls" id="controls" hidden>
<button type="button" class="round" id="zoom-in" aria-label="Zoom in" title="Zoom in">${icon("M12 5v14M5 12h14")}</button>
<button type="button" class="round" id="zoom-out" aria-label="Zoom out" title="Zoom out">${icon("M5 12h14")}</button>
<button type="button" class="round" id="motion" aria-label="Follow the device's motion" title="Follow the device's motion" aria-pressed="false" hidden>${icon("M12 3a9 9 0 1 0 9 9M12 7v5l3 2")}</button>
<button type="button" class="round" id="fullscreen" aria-label="Full screen" title="Full screen">${icon("M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5")}</button>
</div>
<div class="caption"><div class="caption-text"><h1>${title}</h1>
<p>${dateOf(task.succeededAt)} · ${size(task)} · ${isPublic ? "public" : "only you can see this"}</p></div>
${
  bare
    ? html`<a class="button quiet" href="${link}" target="_blank" rel="noopener">Open</a>`
    : html`<div class="caption-actions"><a class="button quiet" href="${url}" download="panorama-${task.slug}.jpg">Download</a>
<button type="button" class="button quiet" id="share" data-link="${link}">Share</button></div>`
}</div></div>`;
  const head = isPublic ? preview(title, link, thumbnail, task) : html`<meta name="robots" content="noindex">`;
  return layout.reply(200, { ...frame, main, head, scripts: ["viewer.js"] });
};

type StatusMessage = { readonly main: Html; readonly refresh: boolean };

/** The message for a task without a stored image. `refresh`: the page reloads until the state changes. */
const statusMessageOf = (task: Task): StatusMessage | undefined => {
  if (isActive(task))
    return statusMessage(
      "Generating",
      "This panorama is being generated. This page shows it when it is finished.",
      true,
    );
  if (task.state === "failed") {
    const { credits } = task.reservation;
    return statusMessage(
      "Generation failed",
      `This panorama could not be generated. Its ${credits} credits were refunded.`,
      false,
    );
  }
  switch (task.image.status) {
    case "uploading":
      return statusMessage(
        "Saving",
        "This panorama is generated and is being saved. It appears here in a moment.",
        true,
      );
    case "failed":
    case "expired": {
      const why = task.image.status === "failed" ? "could not be saved" : "is no longer stored";
      return statusMessage("Image no longer available", `This panorama was generated, but its image ${why}.`, false);
    }
    default:
      return undefined;
  }
};

const statusMessage = (title: string, sentence: string, refresh: boolean): StatusMessage => ({
  refresh,
  main: html`<div class="message">${refresh && html`<span class="spinner" aria-hidden="true"></span>`}
<h1>${title}</h1><p role="status">${sentence}</p></div>`,
});

const size = ({ request }: Task): string => pixelSize(RESOLUTIONS[request.resolution]);

/** Metadata for the link previews of chats and social networks. */
const preview = (title: string, link: string, thumbnail: string, task: Task): Html => {
  const description = `A 360° panorama of ${size(task)} pixels. Open it and look around.`;
  return html`<link rel="canonical" href="${link}">
<meta name="description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="Panorama">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${link}">
<meta property="og:image" content="${thumbnail}">
<meta property="og:image:width" content="512">
<meta property="og:image:height" content="256">
<meta name="twitter:card" content="summary_large_image">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${description}">
<meta name="twitter:image" content="${thumbnail}">`;
};

const icon = (path: string): Html =>
  html`<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path d="${path}"/></svg>`;
