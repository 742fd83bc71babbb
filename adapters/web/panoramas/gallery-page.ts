import type { UseCases } from "../../../application/create-application.js";
import { parseTaskId, type TaskId } from "../../../domain/ids.js";
import type { Page } from "../../web-page/page.js";
import { type Html, html } from "../html.js";
import type { Layout } from "../layout.js";
import { entryPath, redirect } from "../paths.js";
import type { SessionGuard } from "../session-guard.js";
import { galleryTile, type Images } from "./panorama-card.js";
import { parseSearchText, searchField } from "./works-search.js";

type Parts = {
  readonly panoramas: UseCases["panoramas"];
  readonly images: Images;
  readonly guard: SessionGuard;
  readonly layout: Layout;
};

const PANORAMAS_PER_PAGE = 24;
/** Of tiles, on a wide screen. */
const FIRST_ROW = 4;
const DESCRIPTION =
  "360° panoramas that others have made from a sentence or from pictures. Open one and look around in it.";

/** Search and order of the gallery. `search` is empty if it has no words. */
type View = { readonly search: string; readonly sort: "newest" | "oldest" };

/** Links to the page before, and to the page after. */
const AGES = { newest: ["newer", "older"], oldest: ["older", "newer"] } as const;

/**
 * `GET /gallery?q=WORDS&sort=oldest&before=ID` or `&after=ID`: all public panoramas, or those that a search finds, in
 * pages. A script loads the next page when the reader scrolls.
 */
export const galleryPage = (parts: Parts): Page => ({
  method: "GET",
  path: "/gallery",
  body: "none",
  cost: "search",
  handle: async (request) => {
    const visitor = await parts.guard.visitor(request);
    const { query } = request;
    const { text, words: searched } = parseSearchText(query);
    const view: View = {
      search: searched.length === 0 ? "" : text,
      sort: query.get("sort") === "oldest" ? "oldest" : "newest",
    };
    const before = parseTaskId(query.get("before") ?? "");
    const after = parseTaskId(query.get("after") ?? "");
    const range = { before, after, sort: view.sort };
    const { panoramas, next, newer } =
      searched.length === 0
        ? await parts.panoramas.listPublic(PANORAMAS_PER_PAGE, range)
        : await parts.panoramas.searchPublic(searched, PANORAMAS_PER_PAGE, range);

    const isFirst = before === undefined && after === undefined;
    const read = after !== undefined || (isFirst && view.sort === "oldest") ? "newer" : "older";
    const links = { older: next && link(view, "older", next), newer: newer && link(view, "newer", newer) };
    const [back, forward] = AGES[view.sort];
    // The first page has one address only, and is full if there are enough.
    if (!isFirst && read === back && links[back] === undefined) return redirect(pathOf(view));

    if (isFirst && panoramas.length === 0 && view.search === "") {
      const start = entryPath("/works", visitor !== undefined, parts.layout.hasSignUp);
      const canMake = visitor !== undefined || parts.layout.hasSignUp;
      const main = html`<div class="message"><h1>Gallery</h1><p>There is nothing here yet.${canMake && " The first public panorama can be yours."}</p>
<p><a class="button" href="${start}">${canMake ? "Make a panorama" : "Log in"}</a></p></div>`;
      return parts.layout.reply(200, {
        title: "Gallery",
        description: DESCRIPTION,
        main,
        visitor,
        frame: "gate",
        place: "/gallery",
      });
    }
    const main = html`${head(view, text, panoramas.length > 0)}
${
  panoramas.length === 0
    ? nothingFound(view, isFirst)
    : html`<ul class="tiles" id="gallery">${panoramas.map((task, index) => galleryTile(task, index < FIRST_ROW))}</ul>`
}
<p class="cluster more">${links[back]}
${links[forward]}</p>`;
    return parts.layout.reply(200, {
      title: view.search === "" ? "Gallery" : `${view.search} · Gallery`,
      description: DESCRIPTION,
      main,
      visitor,
      place: "/gallery",
      scripts: ["gallery.js"],
      styles: ["gallery.css"],
      head: view.search === "" ? undefined : html`<meta name="robots" content="noindex">`,
    });
  },
});

function pathOf({ search, sort }: View, cursor: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({
    ...(search !== "" && { q: search }),
    ...(sort === "oldest" && { sort }),
    ...cursor,
  });
  return query.size === 0 ? "/gallery" : `/gallery?${query}`;
}

/** A link to the page beside. */
function link(view: View, age: "older" | "newer", cursor: TaskId): Html {
  const isBack = age === AGES[view.sort][0];
  const path = pathOf(view, { [age === "older" ? "before" : "after"]: cursor });
  return html`<a class="button${isBack && " quiet"}" rel="${isBack ? "prev" : "next"}" href="${path}">${age === "older" ? "Older panoramas" : "Newer panoramas"}</a>`;
}

const head = (view: View, text: string, hasFound: boolean): Html => html`<div class="row head"><div><h1>Gallery</h1>
${
  hasFound &&
  html`<p>${
    view.search === ""
      ? "Open a panorama to look around in it."
      : html`Results for “<bdi>${view.search}</bdi>” · <a href="${pathOf({ ...view, search: "" })}">Show all</a>`
  }</p>`
}</div>
${searchForm(view, text)}
<nav class="sort" aria-label="Sorting">${(["newest", "oldest"] as const).map(
  (sort) =>
    html`<a href="${pathOf({ ...view, sort })}"${sort === view.sort && html` aria-current="true"`}>${sort === "newest" ? "Newest" : "Oldest"}</a>`,
)}</nav></div>`;

const searchForm = (
  view: View,
  text: string,
): Html => html`<form class="search" method="get" action="/gallery" role="search">${searchField(text, "Search in descriptions", "Search: lake, night, snow …")}
${view.sort === "oldest" && html`<input type="hidden" name="sort" value="oldest">`}</form>`;

function nothingFound(view: View, isFirst: boolean): Html {
  const { search, sort } = view;
  if (search === "") {
    return html`<div class="nothing"><p>${AGES[sort][1] === "older" ? "There are no older panoramas." : "There are no newer panoramas."}</p>
<p><a class="button" href="${pathOf(view)}">${sort === "newest" ? "Newest panoramas" : "Oldest panoramas"}</a></p></div>`;
  }
  return html`<div class="nothing"><p>${isFirst ? html`Nothing found for “<bdi>${search}</bdi>”.` : html`Nothing more found for “<bdi>${search}</bdi>”.`}</p>
<p class="hint">${isFirst && "Try fewer words, or only their beginnings."}</p><p><a class="button" href="${pathOf({ ...view, search: isFirst ? "" : search })}">${isFirst ? "Show all panoramas" : "First results"}</a></p></div>`;
}
