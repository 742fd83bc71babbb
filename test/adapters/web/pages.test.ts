import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { logIn, setUpService, visiting } from "../../support/visit.js";
import type { Person } from "../../support/web-service.js";

const HTML = "text/html; charset=utf-8";
const A_DAY = "public, max-age=86400";

/** A page in the layout: nobody keeps it, and it runs no script of others. */
const page = { type: HTML, cache: "no-store" };
const status = { type: "application/json", cache: "no-store" };
const jpeg = { type: "image/jpeg", cache: A_DAY };
const webp = { type: "image/webp", cache: A_DAY };

type Seen = number | "to the login" | "to /works" | "to /account#orders" | "to the icon";
type Row = readonly [
  visitor: Seen,
  owner: Seen,
  another: Seen,
  kind: { readonly type: string; readonly cache: string },
];

/** What a visitor, the owner of the panorama or order in the path, and another account get. */
const PAGES: Readonly<Record<string, Row>> = {
  "/": [200, 200, 200, page],
  "/gallery": [200, 200, 200, page],
  "/docs": [200, 200, 200, page],
  "/mcp": [200, 200, 200, page],
  "/providers": [200, 200, 200, page],
  "/login": [200, "to /works", "to /works", page],
  "/signup": [200, "to /works", "to /works", page],
  "/password/forgot": [200, 200, 200, page],
  "/password/reset": [410, 410, 410, page],
  "/p/:slug": [200, 200, 200, page],
  "/p/:slug/status": [200, 200, 200, status],
  ...Object.fromEntries(
    ["social", "social-600", "social-400", "social-200", "social-80"].map((name): [string, Row] => [
      `/p/:slug/${name}.jpg`,
      [200, 200, 200, jpeg],
    ]),
  ),
  "/p/:slug/tile-480.webp": [200, 200, 200, webp],
  "/p/:slug/tile-960.webp": [200, 200, 200, webp],
  "/p/:slug/512.webp": [200, 200, 200, webp],
  "/oembed": [404, 404, 404, { type: "text/plain; charset=utf-8", cache: "no-store" }],
  "/works": ["to the login", 200, 200, page],
  "/works/:slug": ["to the login", 200, 404, page],
  "/works/:slug/status": ["to the login", 200, 404, status],
  "/works/:slug/picture.jpg": ["to the login", 200, 404, { type: "image/jpeg", cache: "private, no-store" }],
  "/works/:slug/thumbnail.webp": ["to the login", 200, 404, { type: "image/webp", cache: "private, no-store" }],
  "/account": ["to the login", 200, 200, page],
  "/account/entries.csv": ["to the login", 200, 200, { type: "text/csv; charset=utf-8", cache: "no-store" }],
  "/account/orders": ["to the login", "to /account#orders", "to /account#orders", page],
  "/account/orders/:id": ["to the login", 200, 404, page],
  "/account/keys": ["to the login", 200, 200, page],
  "/account/webhooks": ["to the login", 200, 200, page],
  "/account/settings": ["to the login", 200, 200, page],
  "/account/email": ["to the login", 410, 410, page],
  "/account/data.jsonl": ["to the login", 200, 200, { type: "application/jsonl; charset=utf-8", cache: "no-store" }],
  "/favicon.ico": ["to the icon", "to the icon", "to the icon", { type: "image/png", cache: A_DAY }],
  "/manifest.webmanifest": [200, 200, 200, { type: "application/manifest+json", cache: A_DAY }],
  "/robots.txt": [200, 200, 200, { type: "text/plain; charset=utf-8", cache: A_DAY }],
};

/** Forms without a session. */
const OPEN_FORMS = ["/login", "/signup", "/password/forgot", "/password/reset"];

describe("the pages", () => {
  const service = setUpService();
  let ann: Person;
  let bob: Person;
  let shown: SucceededTask;
  let hidden: SucceededTask;
  let people: readonly Pick<ReturnType<typeof visiting>, "get">[];

  beforeAll(async () => {
    service.provider.play({ poll: "succeeded", download: "image" });
    [ann, bob] = [await service.person("ann"), await service.person("bob")];
    shown = await service.kept(ann, { prompt: "a shown place", resolution: "2k" });
    hidden = await service.kept(ann, { prompt: "a private place", visibility: "private" });
    people = [visiting(service), await logIn(service, ann), await logIn(service, bob)];
  });

  const paths = (method: "GET" | "POST") =>
    service.pages.flatMap((one) => (one.method === method && !one.path.startsWith("/static/") ? [one.path] : []));

  it("have a row in the table each", () => {
    expect(Object.keys(PAGES).sort()).toEqual(paths("GET").sort());
  });

  it.each(Object.entries(PAGES))(
    "%s is for whom it is, with its type, cache and security headers",
    async (path, row) => {
      const [order] = await service.orders.list(ann.id, 1, undefined);
      const { slug } = path.startsWith("/p/") ? shown : hidden;
      const url = path.replace(":slug", slug).replace(":id", order?.id ?? "");
      for (const [who, { get }] of people.entries()) {
        await service.clock.advance(60_000);
        const { status, location, headers, text } = await get(url, { "accept-encoding": "br" });
        const expected = row[who];
        if (typeof expected === "string") {
          const next = url === "/works" ? "/login?next=%2Fworks" : `/login?next=${encodeURIComponent(url)}`;
          const icon = expect.stringMatching(/^\/static\/[0-9a-f]+-favicon\.png$/);
          const target =
            { "to the login": next, "to the icon": icon }[expected as string] ?? expected.slice("to ".length);
          expect([who, status >= 300 && status < 400, location]).toEqual([who, true, target]);
          continue;
        }
        const { type, cache } = row[3];
        expect([who, status]).toEqual([who, expected]);
        if (status === 200) expect([headers.get("content-type"), headers.get("cache-control")]).toEqual([type, cache]);
        if (headers.get("content-type") !== HTML) continue;
        expect(headers.get("cache-control")).toBe("no-store");
        expect(headers.get("x-content-type-options")).toBe("nosniff");
        expect(headers.get("referrer-policy")).toBe("same-origin");
        // A sandboxed frame could not open a public panorama with it.
        const isOpen = path === "/p/:slug" && who === 0;
        expect(headers.get("cross-origin-opener-policy")).toBe(isOpen ? null : "same-origin");
        expect(headers.get("cross-origin-resource-policy")).toBeNull();
        // The one script inside a page chooses its colours before it is shown (client/theme.ts).
        const inside = (tag: string) => new RegExp(`<${tag}>(.*?)</${tag}>`, "s").exec(text)?.[1];
        const digest = (of = "") => of && ` 'sha256-${createHash("sha256").update(of).digest("base64")}'`;
        const [script, style] = [inside("script"), inside("style")];
        const policy = headers.get("content-security-policy") ?? "";
        const sources = `script-src 'self'${digest(script)}; style-src 'self'${digest(style)};`;
        expect(policy).toContain(`default-src 'none'; ${sources}`);
        expect([style?.includes(".hero"), text.includes('rel="stylesheet"')]).toEqual(
          path === "/" && who === 0 ? [true, false] : [undefined, true], // visitors need no second request
        );
        expect(policy).toContain("frame-ancestors 'none'");
        expect(policy).not.toContain("unsafe");
        expect(text.replace(`<script>${script}</script>`, "")).not.toMatch(
          /<script(?![^>]* src="\/static\/)| on\w+="|style="/,
        );
        // With a secret in it, a page is not compressed: its length would tell of the secret.
        const isSecret = text.includes("form_token");
        expect([headers.get("content-encoding"), headers.get("vary")]).toEqual(
          isSecret ? [null, "cookie"] : ["br", "cookie, accept-encoding"],
        );
      }
    },
  );

  it("of a private panorama are at /works only, and those of a public one at /p, in frames with ?embed=1", async () => {
    for (const { get } of people) {
      for (const file of ["", "/status", "/social.jpg", "/512.webp", "/tile-480.webp"])
        expect([file, (await get(`/p/${hidden.slug}${file}`)).status]).toEqual([file, 404]);
      const { text, headers } = await get(`/p/${shown.slug}?embed=1`);
      expect(headers.get("content-security-policy")).toContain("frame-ancestors *");
      expect(headers.get("cross-origin-embedder-policy")).toBe("require-corp");
      expect(headers.get("cross-origin-resource-policy")).toBe("cross-origin");
      expect([text.includes("<header"), text.includes("a shown place")]).toEqual([false, true]);
    }
  });

  it("that do not exist, or fail, are pages in the layout", async () => {
    const { get } = visiting(service);
    const missing = await get("/nope");
    expect([missing.status, missing.headers.get("content-type")]).toEqual([404, HTML]);
    for (const part of ["<h1>Page not found</h1>", 'href="/login"', 'href="/gallery"'])
      expect(missing.text).toContain(part);
    const away = new Error("the database is away");
    vi.spyOn(service.tasks, "listPublic").mockRejectedValueOnce(away);
    const failed = await get("/gallery");
    expect([failed.status, failed.headers.get("content-type")]).toEqual([500, HTML]);
    expect(failed.text).toMatch(/<header.*<h1>Something went wrong<\/h1>.*this request id: [0-9a-f-]{36}\./s);
    expect(service.failures.splice(0)).toMatchObject([{ error: away }]);
    vi.restoreAllMocks();
  });

  it("robots.txt disallows pages that need a login, and no others", async () => {
    const lines = (await visiting(service).get("/robots.txt")).text.split("\n");
    expect(lines).toContain("Disallow: /works");
    expect(lines).not.toContain("Disallow: /");
  });

  it("take forms only from their own origin, of a session, with its token", async () => {
    const [member, other] = [await logIn(service, ann), await logIn(service, ann)];
    const rows = () =>
      Promise.all(
        ["task", "credit_order", "api_key", "session", "webhook_endpoint", "account"].map((table) =>
          service.database.sql(`select * from ${table}`),
        ),
      );
    const before = await rows();
    expect(paths("POST").length).toBeGreaterThan(20);
    for (const path of paths("POST")) {
      await service.clock.advance(60_000);
      const fields = {
        email: "eve@example.com",
        current: "correct horse battery",
        password: "a new password",
        credits: "100",
      };
      for (const origin of ["https://evil.example", "null"])
        expect([path, (await member.post(path, fields, { origin })).status]).toEqual([path, 403]);
      if (OPEN_FORMS.includes(path)) continue;
      const stranger = await visiting(service).post(path, fields);
      expect([path, stranger.status, stranger.location?.startsWith("/login?")]).toEqual([path, 303, true]);
      for (const form_token of ["", "0".repeat(64), other.token])
        expect([path, (await member.post(path, { ...fields, form_token })).status]).toEqual([path, 403]);
    }
    expect(await rows()).toEqual(before);
  });
});
