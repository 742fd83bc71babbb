import type { Visitor } from "../../../application/accounts/sessions.js";
import { startViewText } from "../../../domain/images/picture.js";
import { RESOLUTIONS } from "../../../domain/images/resolution.js";
import { sourceLabel } from "../../../domain/images/source-type.js";
import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import { viewerPath } from "../../../domain/tasks/slug.js";
import { type SucceededTask, startViewOf } from "../../../domain/tasks/task.js";
import { pixelSize } from "../../wording/numbers.js";
import { hiddenSentence } from "../../wording/sentences.js";
import { type Html, html, icon } from "../html.js";
import { hiddenToken } from "../layout.js";
import { QUERY_CHARACTERS_MAX } from "../paths.js";
import { dateOf } from "../texts.js";
import { PROVIDERS_LINK } from "./demo-note.js";
import { fileNameOf, fullPromptOf, summaryOf, titleOf, type ViewableTask } from "./panorama-card.js";
import { oembedUrl, SOCIAL_IMAGE_SIZE, socialImageUrl } from "./share-pages.js";

type Urls = {
  readonly url: string;
  readonly thumbnail: string;
  /** The address of the viewer, for everybody or for the owner only. */
  readonly link: string;
};

type Options = {
  /** In a frame of another page. */
  readonly isEmbedded: boolean;
  /** The panorama that it was made from, if the visitor may open that. */
  readonly source: SucceededTask | undefined;
  /** True if another panorama can be made from it. */
  readonly mayChange: boolean;
  /** The visitor, if it is the owner. */
  readonly owner: Visitor | undefined;
  /** True if this installation has a public gallery. */
  readonly hasGallery: boolean;
  /** The operator's address for reports, if there is one. */
  readonly reportTo: string | undefined;
  /** What the demo painter has made of the prompt, if it painted the panorama. */
  readonly demo: Html | undefined;
  /** Path behind a link to a page of members. */
  readonly enter: (path: string) => string;
};

/** The sphere with its caption, bar, menu and dialog. The script client/viewer.ts shows what needs a script. */
export const viewerScene = (task: ViewableTask, { url, thumbnail, link }: Urls, options: Options): Html => {
  const { isEmbedded } = options;
  const title = titleOf(task);
  const full = fullPromptOf(task);
  const { prompt, visibility } = task.request;
  const start = startViewOf(task);
  const withPrompt = creationPath({ prompt });
  const hasPrompt = withPrompt !== creationPath({});
  const size = RESOLUTIONS[task.request.resolution];
  return html`<div class="scene" id="scene">
<img class="flat" id="flat" src="${thumbnail}" alt="${title}, as a flat image" crossorigin="anonymous" fetchpriority="high">
<div id="viewer" class="sphere" data-image="${url}" data-width="${size.widthPixels}" data-name="${fileNameOf(task)}"${start && html` data-start="${startViewText(start)}"`} tabindex="0" role="application" aria-label="${title}: 360° view. Drag, or use the arrow keys, to look around; plus and minus zoom."></div>
<div class="progress" id="progress" role="progressbar" aria-label="Loading the picture" aria-valuemin="0" aria-valuemax="100" aria-valuenow="0"><span></span></div>
<p class="raised stage-note" id="stage-note" role="status" hidden></p>
<noscript><p class="raised stage-note">The 360° view needs JavaScript. <a href="${url}">Open the flat picture.</a></p></noscript>
<button type="button" class="round compass" id="compass" aria-label="Back to the start view" title="Back to the start view"><svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path class="needle" d="M12 3l4 9H8z"/><path d="M12 21l4-9H8z"/></svg></button>
<div class="row overlay"><div class="caption" id="caption"><h1 dir="auto">${title}</h1>
<p class="cluster"><span>${dateOf(task.succeededAt)} · ${pixelSize(size)} · ${visibility === "public" ? "public" : "only you can see this"} · ${sourceLabel(task.sourceType)}</span>
${hasPrompt && !isEmbedded && html`<a href="${options.enter(withPrompt)}">Use this prompt</a>`}${
  options.mayChange && html`<a href="${options.enter(`/works?change=${task.slug}`)}">Change this panorama</a>`
}${
  options.source &&
  html`<span>Made from <a href="${viewerPath(options.source.slug, options.source.request.visibility)}">${titleOf(options.source)}</a></span>`
}${
  visibility === "public" &&
  !isEmbedded &&
  options.owner === undefined &&
  options.reportTo !== undefined &&
  html`<a href="${reportUrl(options.reportTo, link)}">Report</a>`
}</p>
${options.demo && !isEmbedded && html`<p class="cluster"><span>${options.demo}</span> ${PROVIDERS_LINK}</p>`}
${task.hiddenReason !== undefined && html`<p class="hidden-note">${hiddenSentence(task.hiddenReason)}</p>`}
${full !== undefined && html`<details><summary>Full prompt</summary><p dir="auto">${full}</p></details>`}</div>
<div class="bar" id="bar" role="group" aria-label="Viewer controls" hidden>
${barButton("rotate", "Rotate", "M20 12a8 8 0 1 1-2.3-5.6M20 3v4h-4")}
${barButton("zoom-out", "Zoom out", "M5 12h14")}
${barButton("zoom-in", "Zoom in", "M12 5v14M5 12h14")}
${barButton("motion", "Look around by moving the device", "M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM3 9v6M21 9v6", true)}
${barButton("vr", "View in VR", "M3 7h18v10h-6l-3-3-3 3H3zM7.5 11.5h.01M16.500 11.500h.01", true)}
${barButton("fullscreen", "Full screen", "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5", true)}
${
  isEmbedded
    ? html`<a class="round" id="open" href="${link}" target="_blank" rel="noopener" aria-label="Open in a new tab" title="Open in a new tab">${icon("M14 4h6v6M20 4l-9 9M10 5H5v14h14v-5")}</a>`
    : html`${menuButton("keys", "Keyboard", "M3 6.500h18v11H3zM7 10.500h.01M12 10.500h.01M17 10.500h.01M8 14h8", "keys-note")}
${menuButton("download", "Download", "M12 4v11M7 11l5 5 5-5M5 20h14", "downloads")}
${barButton("share", "Share", "M12 15V4M8 7.500l4-4 4 4M6 11H5v9h14v-9h-1")}`
}
</div></div>
${!isEmbedded && KEYS}${!isEmbedded && downloadMenu(task, url)}${!isEmbedded && shareDialog(task, link, options)}</div>`;
};

/** An e-mail to the operator that names the panorama. */
const reportUrl = (to: string, link: string): string =>
  `mailto:${to}?subject=${encodeURIComponent(`Report of ${link}`)}`;

const barButton = (id: string, label: string, path: string, hidden = false): Html =>
  html`<button type="button" class="round" id="${id}" aria-label="${label}" title="${label}"${hidden && html` hidden`}>${icon(path)}</button>`;

const menuButton = (id: string, label: string, path: string, menu: string): Html =>
  html`<button type="button" class="round" id="${id}" popovertarget="${menu}" aria-label="${label}" title="${label}">${icon(path)}</button>`;

const KEYS: Html = html`
<div id="keys-note" class="raised menu" popover role="group" aria-label="Keyboard">
<p>Keys in the picture: arrows turn, + and − zoom, Space rotates, F fills the screen, Home returns.</p></div>`;

const downloadMenu = (task: ViewableTask, url: string): Html => html`
<div id="downloads" class="raised menu" popover role="group" aria-label="Download">
<a href="${url}" download="${fileNameOf(task)}.jpg" id="save-picture">Panorama <small>JPEG, ${pixelSize(RESOLUTIONS[task.request.resolution])}</small></a>
<button type="button" id="save-view">This view <small>PNG</small></button>
<button type="button" id="save-cube">Six cube faces <small>JPEG, in a ZIP file</small></button>
<p id="save-note" role="status" hidden></p></div>`;

const shareDialog = (task: ViewableTask, link: string, { owner, hasGallery }: Options): Html => html`
<dialog id="share-dialog" class="raised dialog" aria-labelledby="share-title"><form method="dialog" class="row"><h2 id="share-title">Share</h2>
<button class="round" aria-label="Close">${icon("M6 6l12 12M18 6L6 18")}</button></form>
${task.request.visibility === "public" ? shareFields(task, link) : privateNote(task, owner, hasGallery)}</dialog>`;

/** The script fills in the view and the text of the frame. */
const shareFields = (task: ViewableTask, link: string): Html => html`
<div><label for="share-link">Link</label><span class="cluster copied"><input id="share-link" value="${link}" readonly dir="ltr"><button type="button" class="button small" data-copy="share-link">Copy link</button></span></div>
<label class="check"><input type="checkbox" id="share-view"><span>Start at this view</span></label>
<div><label for="share-frame">To embed it in a page</label><span class="cluster copied"><textarea id="share-frame" rows="3" readonly dir="ltr" data-title="${titleOf(task)}"></textarea><button type="button" class="button small" data-copy="share-frame">Copy code</button></span></div>
<p><button type="button" class="button quiet small" id="share-system" hidden>More ways to share</button></p>
<p id="copied" role="status"></p>`;

const privateNote = (
  { id, slug, hiddenReason }: ViewableTask,
  owner: Visitor | undefined,
  hasGallery: boolean,
): Html => html`
<p>${
  hiddenReason === undefined
    ? hasGallery
      ? "Only you can open this panorama. To share it, make it public: everybody with the link can open it, and the gallery may show it."
      : "Only you can open this panorama. To share it, make it public: everybody with the link can open it."
    : hiddenSentence(hiddenReason)
}</p>
${
  owner &&
  hiddenReason === undefined &&
  html`<form method="post" action="/works/${id}/visibility" id="publish" data-public="/p/${slug}">${hiddenToken(owner.formToken)}<input type="hidden" name="visibility" value="public"><button class="button">Make it public</button></form>
<p id="copied" role="status"></p>`
}`;

/** Metadata for search engines and for the link previews of chats and social networks. */
export function linkPreview(task: ViewableTask, link: string, publicUrl: string, siteName: string): Html {
  const title = titleOf(task);
  const size = pixelSize(RESOLUTIONS[task.request.resolution]);
  const label = sourceLabel(task.sourceType).replace(/^\w/, (first) => first.toLowerCase());
  const description =
    fullPromptOf(task) === undefined
      ? `A 360° panorama of ${size} pixels, ${label}. Open it and look around.`
      : `${summaryOf(task)} A 360° panorama, ${label}.`;
  const image = socialImageUrl(publicUrl, task);
  const { widthPixels, heightPixels } = SOCIAL_IMAGE_SIZE;
  return html`<link rel="canonical" href="${link}">
<link rel="alternate" type="application/json+oembed" href="${oembedUrl(publicUrl, link)}" title="${title}">
<meta name="description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${siteName}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${link}">
<meta property="og:image" content="${image}">
<meta property="og:image:width" content="${widthPixels}">
<meta property="og:image:height" content="${heightPixels}">
<meta property="og:image:alt" content="${title}">
<meta name="twitter:card" content="summary_large_image">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${description}">
<meta name="twitter:image" content="${image}">`;
}

/** The form for a new panorama, filled with these values. A prompt that does not fit into an address is left out. */
function creationPath(values: Partial<Pick<CreationRequest, "prompt" | "resolution" | "visibility">>): string {
  const { prompt = "", resolution, visibility } = values;
  const short = { ...(resolution && { resolution }), ...(visibility && { visibility }) };
  // A longer text need not be encoded: that only makes it longer.
  const isShort = prompt !== "" && prompt.length <= QUERY_CHARACTERS_MAX;
  const query = new URLSearchParams({ ...(isShort && { prompt }), ...short }).toString();
  if (query.length <= QUERY_CHARACTERS_MAX) return query === "" ? "/works" : `/works?${query}`;
  return creationPath(short);
}
