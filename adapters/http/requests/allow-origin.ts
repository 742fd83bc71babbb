import type { RawExchange } from "../request-source.js";

const SENT = [
  "authorization",
  "content-type",
  "idempotency-key",
  "last-event-id",
  "prefer",
  "traceparent",
  "x-api-key",
  "x-request-id",
].join(", ");

const READ = [
  "idempotent-replayed",
  "location",
  "preference-applied",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "x-request-id",
].join(", ");

const PREFLIGHT_SECONDS = 86_400;

/** True if there is a route for the method and the URL. */
type Routed = { find(method: string, url: string): unknown };

/**
 * Allows pages of the origins to read the answer of the exchange. Answers the question of a browser whether it may send
 * a request, if there is a route for that, and returns whether it has. Keys are in headers, so cookies are not allowed.
 */
export const allowOrigin = (cors: Cors | undefined, exchange: RawExchange, routes: Routed): boolean => {
  if (cors === undefined) return false;
  if (cors.origins === "*") exchange.header("access-control-allow-origin", "*");
  else {
    // Also without an origin: a cache must not give that answer to a page.
    exchange.header("vary", "origin");
    const { origin } = exchange.headers;
    if (origin === undefined || !cors.origins.includes(origin)) return false;
    exchange.header("access-control-allow-origin", origin);
  }
  exchange.header("access-control-expose-headers", READ);
  const wanted = exchange.headers["access-control-request-method"];
  if (exchange.method !== "OPTIONS" || wanted === undefined || routes.find(wanted, exchange.url) === undefined) {
    return false;
  }
  exchange.status(204);
  exchange.header("access-control-allow-methods", wanted);
  exchange.header("access-control-allow-headers", SENT);
  exchange.header("access-control-max-age", String(PREFLIGHT_SECONDS));
  void exchange.send(undefined, false);
  return true;
};

/** The origins whose pages may call the routes, such as `https://example.com`; `*`: all of them. */
export type Cors = { readonly origins: "*" | readonly string[] };
