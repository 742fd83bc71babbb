import type { ListPublicPanoramas } from "../../application/panoramas/list-public-panoramas.js";
import { parseTaskId } from "../../domain/task-id.js";
import type { Page } from "../web-page/page.js";
import { html } from "./html.js";
import type { Layout } from "./layout.js";
import { galleryTile, type Images } from "./panorama-card.js";
import { redirect } from "./redirect.js";
import type { SessionGuard } from "./session-guard.js";

const PANORAMAS_PER_PAGE = 24;
const DESCRIPTION =
  "360° panoramas that others have made from a sentence or from pictures. Open one and look around in it.";

/**
 * `GET /gallery?before=ID` or `?after=ID`: all public panoramas, in pages. A script loads the next older page when the
 * reader scrolls.
 */
export const galleryPage = (list: ListPublicPanoramas, images: Images, guard: SessionGuard, layout: Layout): Page => ({
  method: "GET",
  path: "/gallery",
  body: "none",
  handle: async (request) => {
    const visitor = await guard.visitor(request);
    const before = parseTaskId(request.query.get("before") ?? "");
    const after = parseTaskId(request.query.get("after") ?? "");
    const { panoramas, next, newer } = await list(PANORAMAS_PER_PAGE, before, after);
    // The first page has one address only, and is full if there are enough.
    if (after !== undefined && newer === undefined) return redirect("/gallery");
    const main = html`<div class="band">
${
  panoramas.length === 0
    ? html`<div class="message"><h1>Gallery</h1><p>${before === undefined ? "There is nothing here yet. The first public panorama can be yours." : "There are no older panoramas."}</p>
<p>${before === undefined ? html`<a class="button" href="/works">Make a panorama</a>` : html`<a class="button" href="/gallery">Newest panoramas</a>`}</p></div>`
    : html`<div class="band-head"><h1>Gallery</h1><p>Open a panorama to look around in it.</p></div>
<ul class="tiles" id="gallery">${panoramas.map((task) => galleryTile(task, images))}</ul>`
}
<p class="more">${newer !== undefined && html`<a class="button quiet" rel="prev" href="/gallery?after=${newer}">Newer panoramas</a>`}
${next !== undefined && html`<a class="button" rel="next" href="/gallery?before=${next}">Older panoramas</a>`}</p>
</div>`;
    return layout.reply(200, {
      title: "Gallery",
      description: DESCRIPTION,
      main,
      visitor,
      frame: "dark",
      scripts: ["gallery.js"],
      styles: ["gallery.css"],
    });
  },
});
