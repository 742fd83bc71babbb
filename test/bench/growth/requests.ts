import { createHash } from "node:crypto";
import { cursorOf } from "../../../adapters/web-page/cursor.js";
import type { Member } from "./seed.js";

/** One request of the growth test; `status` is what it must be answered with. */
export type GrowthRequest = {
  readonly path: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Of a stream: it is read until it has so many events. */
  readonly events?: number;
  /** It shows or needs more tasks than a young account has. A full one is compared: equal answers take equal times. */
  readonly isLarge?: boolean;
};

/** `run` counts the requests of this row, so that each can name another task. */
export type MakeRequest = (who: Member, run: number) => GrowthRequest;

/** The requests of one route, by what is special about them, or why it needs none. */
type Row = Readonly<Record<string, MakeRequest>> | string;

const bearer = ({ apiKey }: Member) => ({ authorization: `Bearer ${apiKey}` });
const api =
  (
    path: string | ((who: Member, run: number) => string),
    status = 200,
    more: Partial<GrowthRequest> = {},
  ): MakeRequest =>
  (who, run) => ({
    path: `/api/v1${typeof path === "string" ? path : path(who, run)}`,
    status,
    ...more,
    headers: { ...bearer(who), ...more.headers },
  });

const cookie = ({ session }: Member) => ({ cookie: `session=${session}` });
const page =
  (path: string | ((who: Member, run: number) => string), status = 200): MakeRequest =>
  (who, run) => ({ path: typeof path === "string" ? path : path(who, run), status, headers: cookie(who) });

/** The token that the forms of a session contain (application/accounts/sessions.ts). */
const formToken = ({ session }: Member): string => createHash("sha256").update(`form ${session}`).digest("hex");

export const ORIGIN = "http://growth.example";
const FORM = { "content-type": "application/x-www-form-urlencoded", origin: ORIGIN };

const form =
  (
    path: string | ((who: Member, run: number) => string),
    fields: Readonly<Record<string, string>>,
    status = 303,
  ): MakeRequest =>
  (who, run) => ({
    path: typeof path === "string" ? path : path(who, run),
    status,
    headers: { ...cookie(who), ...FORM },
    body: new URLSearchParams({ ...fields, form_token: formToken(who) }).toString(),
  });

const BOUNDARY = "growth-boundary";
const MULTIPART = { "content-type": `multipart/form-data; boundary=${BOUNDARY}` };
const multipart = (fields: Readonly<Record<string, string>>): string =>
  `${Object.entries(fields)
    .map(([name, value]) => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join("")}--${BOUNDARY}--\r\n`;

/** A page of this size is full for every account. */
const PAGE = 3;
const json = { "content-type": "application/json" };
/** The provider refuses it: it is opened, fails, and is refunded. */
const refused = JSON.stringify({ prompt: "a lake test:reject", resolution: "1k", metadata: { project: "north" } });
/** In the middle of the account's history. */
const between = ({ createdAt, tasks }: Member) => createdAt(tasks / 2).toISOString();
/** The hour before the middle. */
const hour = ({ createdAt, tasks }: Member) => {
  const end = createdAt(tasks / 2);
  const start = new Date(end.getTime() - 60 * 60 * 1000);
  return `created_after=${start.toISOString()}&created_before=${end.toISOString()}`;
};
/** A finished panorama that is not deleted; each run another one. */
const kept = ({ taskId, rare }: Member, run: number) => taskId(rare + 1 + (run % 2));
const aPicture = ({ slug, rare }: Member) => slug(rare + 1);
const canceled = ({ taskId, tasks }: Member) => taskId(tasks - 1);
const hidden = ({ taskId, tasks }: Member) => taskId(tasks);
const large =
  (make: MakeRequest): MakeRequest =>
  (who, run) => ({ ...make(who, run), isLarge: true });
const NO_ROWS = "reads no rows";

/** Every route of the service. A route that is not here fails the test (growth.long.test.ts). */
export const ROUTES: Readonly<Record<string, Row>> = {
  "GET /api/v1/panoramas": {
    "": api(`/panoramas?limit=${PAGE}`),
    "second page": api(
      ({ taskId, tasks }) => `/panoramas?limit=${PAGE}&cursor=${cursorOf("panoramas ", taskId(tasks - 5))}`,
    ),
    "a page deep inside": api(
      ({ taskId, tasks }) => `/panoramas?limit=${PAGE}&cursor=${cursorOf("panoramas ", taskId(tasks / 2))}`,
    ),
    failed: api(`/panoramas?limit=${PAGE}&status=failed`),
    succeeded: api(`/panoramas?limit=${PAGE}&status=succeeded`),
    processing: api(`/panoramas?limit=${PAGE}&status=processing`),
    public: api(`/panoramas?limit=${PAGE}&visibility=public`),
    private: api(`/panoramas?limit=${PAGE}&visibility=private`),
    "failed and public": api(`/panoramas?limit=${PAGE}&status=failed&visibility=public`),
    "processing and public": api(`/panoramas?limit=${PAGE}&status=processing&visibility=public`),
    "created before": api((who) => `/panoramas?limit=${PAGE}&created_before=${between(who)}`),
    "created after": api((who) => `/panoramas?limit=${PAGE}&created_after=${between(who)}`),
    "created before, failed": api((who) => `/panoramas?limit=${PAGE}&status=failed&created_before=${between(who)}`),
    "an hour": api((who) => `/panoramas?limit=${PAGE}&${hour(who)}`),
    "an hour, public": api((who) => `/panoramas?limit=${PAGE}&visibility=public&${hour(who)}`),
    "an hour, failed": api((who) => `/panoramas?limit=${PAGE}&status=failed&${hour(who)}`),
    metadata: api(`/panoramas?limit=${PAGE}&metadata.project=north`),
    "metadata and created before": api(
      (who) => `/panoramas?limit=${PAGE}&metadata.project=north&created_before=${between(who)}`,
    ),
  },
  "GET /api/v1/panoramas/:id": {
    "": api((who) => `/panoramas/${kept(who, 0)}`),
    canceled: api((who) => `/panoramas/${canceled(who)}`),
    deleted: api((who) => `/panoramas/${hidden(who)}`, 404),
    unknown: api("/panoramas/pan_none", 404),
  },
  "POST /api/v1/panoramas": {
    "": api("/panoramas", 502, { headers: json, body: refused }),
    idempotent: (who, run) =>
      api("/panoramas", 502, { headers: { ...json, "idempotency-key": `growth-${run}` }, body: refused })(who, run),
  },
  "DELETE /api/v1/panoramas/:id": { "": large(api((who, run) => `/panoramas/${who.taskId(1 + run)}`, 204)) },
  "POST /api/v1/panoramas/:id/cancel": {
    "": api((who, run) => `/panoramas/${kept(who, run)}/cancel`),
    canceled: api((who) => `/panoramas/${canceled(who)}/cancel`),
    deleted: api((who) => `/panoramas/${hidden(who)}/cancel`, 404),
  },
  "POST /api/v1/images": { "": api("/images", 400, { headers: MULTIPART, body: multipart({}) }) },
  "GET /api/v1/panoramas/:id/events": {
    "": (who, run) => ({ ...api(`/panoramas/${kept(who, 0)}/events`)(who, run), events: 1 }),
    canceled: (who, run) => ({ ...api(`/panoramas/${canceled(who)}/events`)(who, run), events: 1 }),
  },
  "GET /api/v1/events": {
    "from the first one": large((who, run) => ({
      ...api("/events", 200, { headers: { "last-event-id": who.lastEventId } })(who, run),
      events: PAGE,
    })),
  },
  "GET /api/v1/abilities": { "": api("/abilities") },
  "GET /api/v1/credits": { "": api("/credits") },
  "GET /api/v1/credits/entries": {
    "": api(`/credits/entries?limit=${PAGE}`),
    "second page": api(`/credits/entries?limit=${PAGE}&cursor=${cursorOf("credits/entries", "999999999.0")}`),
  },
  "GET /api/v1/openapi.json": NO_ROWS,
  "GET /api/v1/openapi-3.0.json": NO_ROWS,
  "POST /payments/stripe": NO_ROWS,
  "POST /hooks/:provider": NO_ROWS,
  "GET /": { "": page("/") },
  "GET /gallery": {
    "": page("/gallery"),
    oldest: page("/gallery?sort=oldest"),
    "a search": page("/gallery?q=boat"),
    "a search, oldest": page("/gallery?q=boat&sort=oldest"),
    "a search that finds one": page("/gallery?q=walrus"),
    "a search that finds nothing": page("/gallery?q=zebra"),
    "a search that finds nothing, oldest": page("/gallery?q=zebra&sort=oldest"),
    "a search for a frequent and a rare word": page("/gallery?q=a+zebra"),
  },
  "GET /p/:slug": {
    "": page("/p/0000000003crowd0"),
    canceled: page(({ slug, tasks }) => `/p/${slug(tasks - 1)}`, 404),
    deleted: page(({ slug, tasks }) => `/p/${slug(tasks)}`, 404),
  },
  "GET /p/:slug/status": { "": page("/p/0000000003crowd0/status") },
  "GET /works/:slug": {
    "": page((who) => `/works/${aPicture(who)}`),
    canceled: page(({ slug, tasks }) => `/works/${slug(tasks - 1)}`),
    deleted: page(({ slug, tasks }) => `/works/${slug(tasks)}`, 404),
  },
  "GET /works/:slug/picture.jpg": "finds its panorama as GET /works/:slug does",
  "GET /works/:slug/thumbnail.webp": "finds its panorama as GET /works/:slug does",
  "GET /works/:slug/status": { "": page((who) => `/works/${aPicture(who)}/status`) },
  "GET /p/:slug/social.jpg": "finds its panorama as GET /p/:slug does",
  "GET /p/:slug/social-600.jpg": "finds its panorama as GET /p/:slug does",
  "GET /p/:slug/social-400.jpg": "finds its panorama as GET /p/:slug does",
  "GET /p/:slug/social-200.jpg": "finds its panorama as GET /p/:slug does",
  "GET /p/:slug/social-80.jpg": "finds its panorama as GET /p/:slug does",
  "GET /p/:slug/512.webp": "finds its panorama as GET /p/:slug does",
  "GET /p/:slug/tile-480.webp": "finds its panorama as GET /p/:slug does",
  "GET /p/:slug/tile-960.webp": "finds its panorama as GET /p/:slug does",
  "GET /oembed": { "": page(`/oembed?format=json&url=${encodeURIComponent(`${ORIGIN}/p/0000000003crowd0`)}`) },
  // Not a search: it compares up to 500 tasks of the account, 100,000 characters at most, which takes 8 ms.
  "GET /works": {
    "": large(page("/works")),
    "older ones": large(page(({ taskId, tasks }) => `/works?before=${taskId(tasks - 5)}`)),
    "newer ones": large(page(({ taskId }) => `/works?after=${taskId(3)}`)),
  },
  "POST /works": {
    "": large((who, run) => ({
      path: "/works",
      status: 502,
      headers: { ...cookie(who), ...MULTIPART, origin: ORIGIN },
      body: multipart({
        form_token: formToken(who),
        prompt: "a lake test:reject",
        resolution: "1k",
        idempotency_key: `form-${run}`,
      }),
    })),
  },
  "POST /works/selected": {
    "": (who, run) => form("/works/selected", { id: kept(who, 0), act: "publish" })(who, run),
  },
  "POST /works/:id/visibility": {
    "": form((who) => `/works/${kept(who, 0)}/visibility`, { visibility: "private" }),
  },
  "POST /works/:id/cancel": { "": form((who) => `/works/${kept(who, 0)}/cancel`, {}, 409) },
  "POST /works/:id/delete": { "": large(form((who, run) => `/works/${who.taskId(9 + run)}/delete`, {})) },
  "GET /account": {
    "": large(page("/account")),
    "older orders": large(page("/account?orders=ord_z&ledger=999999999.0")),
  },
  "GET /account/orders": { "": page("/account/orders", 303) },
  "GET /account/orders/:id": {
    "": page(({ id }) => `/account/orders/ord_0000000002${id.slice("acc_".length)}`),
  },
  "GET /account/entries.csv": "has up to 10,000 rows, which it reads as GET /account does",
  "POST /account/orders/:id/cancel": { unknown: form("/account/orders/ord_none/cancel", {}, 404) },
  "POST /account/orders": { "": form("/account/orders", { credits: "1" }, 400) },
  "POST /account/low-balance": { "": form("/account/low-balance", { credits: "10" }) },
  "GET /account/keys": { "": page("/account/keys") },
  "POST /account/keys": { refused: form("/account/keys", { name: "" }, 400) },
  "POST /account/keys/:id/revoke": { unknown: form("/account/keys/key_none/revoke", {}, 404) },
  "GET /account/webhooks": {
    "": large(page("/account/webhooks")),
    "older deliveries": large(page("/account/webhooks?before=999999999")),
  },
  "POST /account/webhooks": { refused: form("/account/webhooks", { url: "ftp://none" }, 400) },
  "POST /account/webhooks/:id/delete": { unknown: form("/account/webhooks/none/delete", {}, 404) },
  "POST /account/webhooks/:id/rotate": { "": form(({ endpoint }) => `/account/webhooks/${endpoint}/rotate`, {}) },
  "POST /account/webhooks/:id/enable": { "": form(({ endpoint }) => `/account/webhooks/${endpoint}/enable`, {}) },
  "POST /account/webhooks/:id/test": { unknown: form("/account/webhooks/none/test", {}, 404) },
  "GET /account/settings": { "": page("/account/settings") },
  "POST /account/password": { refused: form("/account/password", { password: "short" }, 400) },
  "POST /account/access/end": "revokes the keys and deletes the endpoints of the account, which has few",
  "GET /account/email": { unknown: page("/account/email?token=none", 410) },
  "POST /account/email": { refused: form("/account/email", { email: "nowhere" }, 400) },
  "POST /account/email/confirm": { unknown: form("/account/email/confirm", { token: "none" }, 410) },
  "GET /account/data.jsonl": "has all that an account has, which it reads a page at a time",
  "POST /account/delete": "closes the account, whose tasks and events it erases a page at a time",
  "POST /account/deliveries/:id/resend": { unknown: form("/account/deliveries/0/resend", {}, 404) },
  "GET /login": NO_ROWS,
  "POST /login": "hashes a password, and finds one row by its e-mail address",
  "GET /signup": NO_ROWS,
  "POST /signup": "hashes a password, and inserts one account",
  "POST /logout": "deletes one session by its key",
  "GET /password/forgot": NO_ROWS,
  "POST /password/forgot": NO_ROWS,
  "GET /password/reset": { "unknown link": page("/password/reset?token=none", 410) },
  "POST /password/reset": "hashes a password, and finds one link by its key",
  "GET /providers": NO_ROWS,
  "GET /favicon.ico": NO_ROWS,
  "GET /robots.txt": NO_ROWS,
  "GET /manifest.webmanifest": NO_ROWS,
  "GET /healthz": NO_ROWS,
  "GET /readyz": { "": page("/readyz") },
  "GET /metrics": { "from what was read before": page("/metrics") },
};
