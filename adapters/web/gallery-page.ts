import type { ListPublicPanoramas } from "../../application/panoramas/list-public-panoramas.js";
import { parseTaskId } from "../../domain/task-id.js";
import type { Page } from "../web-page/page.js";
import { html } from "./html.js";
import type { Layout } from "./layout.js";
import { galleryTile, type Images } from "./panorama-card.js";
import type { SessionGuard } from "./session-guard.js";

const PANORAMAS_PER_PAGE = 24;
const DESCRIPTION =
  "360° panoramas that others have made from a sentence or from pictures. Open one and look around in it.";

/** `GET /gallery?before=ID`: all public panoramas, in pages. A script loads the next page when the reader scrolls. */
export const galleryPage = (list: ListPublicPanoramas, images: Images, guard: SessionGuard, layout: Layout): Page => ({
  method: "GET",
  path: "/gallery",
  body: "none",
  handle: async (request) => {
    const visitor = await guard.visitor(request);
    const before = parseTaskId(request.query.get("before") ?? "");
    const { panoramas, next } = await list(PANORAMAS_PER_PAGE, before);
    const main = html`<div class="band"><div class="band-head"><h1>Gallery</h1><p>Open a panorama to look around in it.</p></div>
${
  panoramas.length === 0
    ? html`<p class="empty">${before === undefined ? "There are no public panoramas yet." : "There are no older panoramas."}</p>`
    : html`<ul class="tiles" id="gallery">${panoramas.map((task) => galleryTile(task, images))}</ul>`
}
<p class="more">${before !== undefined && html`<a class="button quiet" href="/gallery">Newest panoramas</a>`}
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
