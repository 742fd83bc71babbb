import { StoreBusy, StoreFull, StoreUnreachable } from "../../../application/ports/stores/store-errors.js";
import { FOR_ANY_ORIGIN } from "../../web-page/any-origin.js";
import type { Page, PageReply, WebSide } from "../../web-page/page.js";
import { BUSY_RETRY_AFTER_SECONDS, UNREACHABLE_RETRY_AFTER_SECONDS } from "../replies/errors.js";
import type { Reply } from "../replies/reply.js";
import type { Exchange } from "../requests/exchange.js";
import { type Fallback, type Handler, JSON_FALLBACK } from "../router.js";

/** Paths that programs call, even with an extra slash, or as `OPTIONS *`. Their errors are JSON, others are pages. */
const FOR_PROGRAMS = /^(?:[^/]|\/+(?:api|hooks|payments|assets|generations|healthz|readyz|metrics)(\/|$))/;

/** A path of this site: a second slash at the beginning would name another host. */
const OF_THIS_SITE = /^\/[^/\\]/;

/** The path without the slashes at its end; `undefined` if it has none. Takes no longer for many slashes in it. */
function withoutSlashes(path: string): string | undefined {
  if (!path.endsWith("/") || !OF_THIS_SITE.test(path)) return undefined;
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

/**
 * Pages instead of JSON for paths that people open. A path that ends with a slash is redirected to the same path
 * without it. `mounted` makes the handler of a page.
 */
export function peopleFallback(
  { notFound, failed, busy }: Pick<WebSide, "notFound" | "failed" | "busy">,
  mounted: (page: Page) => Handler,
): Fallback {
  const pageFor = ({ requestId, url }: Exchange, thrown: unknown): PageReply =>
    thrown instanceof StoreBusy && !(thrown instanceof StoreFull)
      ? busy(BUSY_RETRY_AFTER_SECONDS, url)
      : failed(requestId, url);
  const notFoundPage = mounted({ method: "GET", path: "", body: "none", handle: notFound });
  return {
    notFound: (exchange) => {
      const { path, search } = partsOf(exchange);
      if (FOR_PROGRAMS.test(path)) return JSON_FALLBACK.notFound(exchange);
      const other = isRead(exchange) ? withoutSlashes(path) : undefined;
      return other === undefined ? notFoundPage(exchange) : moved(other + search);
    },
    failed: (exchange, thrown) =>
      FOR_PROGRAMS.test(partsOf(exchange).path)
        ? JSON_FALLBACK.failed(exchange, thrown)
        : { ...withRetry(pageFor(exchange, thrown), thrown), cause: thrown },
  };
}

/** A database that is away is back soon, mostly. */
const withRetry = (page: PageReply, thrown: unknown): PageReply =>
  thrown instanceof StoreUnreachable
    ? { ...page, headers: { ...page.headers, "retry-after": String(UNREACHABLE_RETRY_AFTER_SECONDS) } }
    : page;

function partsOf({ url }: Exchange): { readonly path: string; readonly search: string } {
  const query = url.indexOf("?");
  return query === -1 ? { path: url, search: "" } : { path: url.slice(0, query), search: url.slice(query) };
}

const isRead = ({ method }: Exchange): boolean => method === "GET" || method === "HEAD";

const moved = (location: string): Reply => ({
  status: 308,
  // Without them, a page with an embedder policy does not show a panorama at such an address.
  headers: { location, "cache-control": "no-store", ...(location.startsWith("/p/") && FOR_ANY_ORIGIN) },
  body: undefined,
});
