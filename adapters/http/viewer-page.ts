import type { FindPublicPanorama } from "../../application/find-public-panorama.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import { parseSlug } from "../../domain/slug.js";
import type { Handler } from "./listener.js";
import { imageUrl } from "./panorama-task.js";
import type { Reply } from "./reply.js";

/** `GET /p/{slug}`: a public panorama; a private one is not found, as an unknown one is. */
export const viewerPage =
  (findPublicPanorama: FindPublicPanorama, storage: Pick<ObjectStorage, "urlOf">): Handler =>
  async (exchange) => {
    const slug = parseSlug(exchange.parameter("slug"));
    const task = slug === undefined ? undefined : await findPublicPanorama(slug);
    if (task === undefined) return page(404, "No such panorama", "<p>There is no public panorama here.</p>");
    const title = task.request.prompt ?? "A panorama";
    const source = escaped(imageUrl(task.image, storage));
    return page(200, title, `<a href="${source}"><img src="${source}" alt="${escaped(title)}"></a>`);
  };

/** `GET /works/{slug}`. */
export const privateViewerPage: Handler = async () =>
  page(404, "A private panorama", "<p>This panorama is private; sign-in comes with the web pages.</p>");

const page = (status: number, title: string, body: string): Reply => ({
  status,
  headers: {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; img-src *; style-src 'unsafe-inline'",
  },
  body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>body { margin: 0; font: 1rem/1.5 system-ui } h1, p { margin: 1rem } img { display: block; width: 100% }</style>
<h1>${escaped(title)}</h1>
${body}
</html>
`,
});

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
