import type { UseCases } from "../../../application/create-application.js";
import type { TaskId } from "../../../domain/task-id.js";
import { viewerPath } from "../../../domain/tasks/slug.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import type { Page, PageReply } from "../../web-page/page.js";
import { HOUR_CACHE } from "../hour-cache.js";
import { type Html, html } from "../html.js";
import type { Layout } from "../layout.js";
import { hasStoredImage, type KeptTask, titleOf } from "../panoramas/panorama-card.js";
import { socialImageUrl } from "../panoramas/share-pages.js";

type Parts = {
  readonly panoramas: Pick<UseCases["panoramas"], "listPublic">;
  readonly layout: Pick<Layout, "hasGallery" | "site">;
  readonly publicUrl: string;
  /** The paths of the operator's pages. */
  readonly legal: readonly { readonly path: string }[];
};

const FEED_PATH = "/gallery.atom";

/** By which browsers and readers of feeds find it. */
export const feedLink = ({ hasGallery, site }: Pick<Layout, "hasGallery" | "site">): Html | undefined =>
  hasGallery
    ? html`<link rel="alternate" type="application/atom+xml" href="${FEED_PATH}" title="${site.name}: Gallery">`
    : undefined;

/** As many as a page of the gallery. */
const FEED_PANORAMAS = 24;

/**
 * Of the protocol's 50,000: each is read at each request, so that the list names nothing that was hidden meanwhile.
 * Search engines find older ones over the pages of the gallery.
 */
const SITEMAP_PANORAMAS = 1_000;
const SITE_PATHS = ["/", "/docs", "/mcp"];

const XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n';

/** What programs read about the gallery: `GET /sitemap.xml`, and where there is one, its feed `GET /gallery.atom`. */
export const galleryLists = (parts: Parts): readonly Page[] => {
  const list = (path: string, contentType: string, make: () => Promise<Html>): Page => ({
    method: "GET",
    path,
    body: "none",
    cost: "search",
    handle: async (): Promise<PageReply> => ({
      status: 200,
      headers: { "content-type": contentType, ...HOUR_CACHE },
      body: XML_DECLARATION + (await make()).text,
      compressible: true,
    }),
  });
  return [
    list("/sitemap.xml", "application/xml", async () => sitemap(parts)),
    ...(parts.layout.hasGallery ? [list(FEED_PATH, "application/atom+xml", async () => feed(parts))] : []),
  ];
};

/** https://www.sitemaps.org/protocol.html */
const sitemap = async ({ panoramas, layout, publicUrl, legal }: Parts): Promise<Html> => {
  const shown: SucceededTask[] = [];
  let before: TaskId | undefined;
  do {
    const page = await panoramas.listPublic(Math.min(SITEMAP_PAGE, SITEMAP_PANORAMAS - shown.length), { before });
    shown.push(...page.panoramas);
    before = page.next;
  } while (before !== undefined && shown.length < SITEMAP_PANORAMAS);
  const paths = [...SITE_PATHS, ...(layout.hasGallery ? ["/gallery"] : []), ...legal.map(({ path }) => path)];
  return html`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${paths.map((path) => html`<url><loc>${publicUrl}${path}</loc></url>\n`)}${shown.map(
  (task) =>
    html`<url><loc>${publicUrl}${viewerPath(task.slug, "public")}</loc><lastmod>${task.succeededAt.toISOString()}</lastmod></url>\n`,
)}</urlset>
`;
};

/** Read at once: other requests are answered between two of them. */
const SITEMAP_PAGE = 200;

/** https://www.rfc-editor.org/rfc/rfc4287 */
const feed = async ({ panoramas, layout: { site }, publicUrl }: Parts): Promise<Html> => {
  const { panoramas: shown } = await panoramas.listPublic(FEED_PANORAMAS);
  const updated = shown.reduce((latest, { succeededAt }) => Math.max(latest, succeededAt.getTime()), 0);
  return html`<feed xmlns="http://www.w3.org/2005/Atom">
<id>${publicUrl}${FEED_PATH}</id>
<title>${site.name}: Gallery</title>
<updated>${new Date(updated).toISOString()}</updated>
<author><name>${site.name}</name></author>
<link rel="self" type="application/atom+xml" href="${publicUrl}${FEED_PATH}"/>
<link rel="alternate" type="text/html" href="${publicUrl}/gallery"/>
${shown.filter(hasStoredImage).map((task) => entry(task, publicUrl))}</feed>
`;
};

const entry = (task: KeptTask, publicUrl: string): Html => {
  const link = publicUrl + viewerPath(task.slug, "public");
  const time = task.succeededAt.toISOString();
  const title = printable(String(titleOf(task)));
  const picture = socialImageUrl(publicUrl, task);
  const content = html`<p><a href="${link}"><img src="${picture}" width="1200" height="630" alt=""></a><br>${title}</p>`;
  return html`<entry><id>${link}</id><title>${title}</title><updated>${time}</updated><published>${time}</published>
<link rel="alternate" type="text/html" href="${link}"/>
<link rel="enclosure" type="image/jpeg" href="${picture}"/>
<content type="html">${content.text}</content></entry>
`;
};

/** Without the characters that XML 1.0 does not allow, not even escaped: a prompt may have them. */
const printable = (text: string): string => text.replace(NOT_IN_XML, "");
const NOT_IN_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
