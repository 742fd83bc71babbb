import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VISITOR_LIMITS, VisitorLimits, type VisitorRequest } from "../../../adapters/http/limits/visitor-limits.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import type { Page } from "../../../adapters/web-page/page.js";
import { RATE_LIMITS } from "../../../domain/panorama-policy.js";
import { logIn, setUpService, visiting } from "../../support/visit.js";

const KINDS = Object.keys(VISITOR_LIMITS) as VisitorRequest[];

describe("VisitorLimits", () => {
  it("admits a network's limit at once, and again as much after a minute without requests", () => {
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), fc.nat(120), (kind, seconds) => {
        const clock = { time: 1_000_000, now: () => new Date(clock.time) };
        const limits = new VisitorLimits(clock);
        const admitted = () => {
          for (let n = 0; ; n += 1) {
            const after = limits.count(kind, "192.0.2.1");
            expect(limits.isUsedUp(kind, () => "192.0.2.1")).toBe(after !== undefined || n + 1 === most);
            if (after !== undefined) return [n, after];
          }
        };
        let most = VISITOR_LIMITS[kind];
        expect(admitted()).toEqual([most, 1]);
        clock.time += seconds * 1_000;
        most = Math.floor((VISITOR_LIMITS[kind] * Math.min(seconds, 60)) / 60 + 1e-9);
        expect(admitted()).toEqual([most, 1]);
        expect(limits.count(kind, "192.0.2.2")).toBeUndefined();
      }),
      { numRuns: 30 },
    );
  });

  it("remembers a bounded number of networks, and none that has been silent for long", async () => {
    const clock = new HandClock();
    const limits = new VisitorLimits(clock);
    for (let n = 0; n < 30_000; n += 1) limits.count("page", `2001:db8:0:${n.toString(16)}::/64`);
    expect(limits.size).toBe(20_000);
    await clock.advance(120_000);
    limits.count("page", "192.0.2.1");
    expect(limits.size).toBe(1);
  });

  it("admits a network whose last requests lie in the future, because the clock was set back", () => {
    const clock = { time: 1e12, now: () => new Date(clock.time) };
    const limits = new VisitorLimits(clock);
    while (limits.count("search", "a") === undefined);
    clock.time -= 3_600_000;
    expect(limits.count("search", "a")).toBeUndefined();
  });
});

describe("the web side", () => {
  const service = setUpService();
  let networks = 0;

  const nextNetwork = () => {
    networks += 1;
    return `203.0.${Math.floor(networks / 250)}.${networks % 250}`;
  };
  type Sent = Pick<Page, "method" | "path">;
  const send = ({ method, path }: Sent, network: string, headers: Readonly<Record<string, string>> = {}) =>
    visiting(service).send(path.replaceAll(/:\w+/g, "unknown"), {
      ...{ method, headers: { "x-forwarded-for": network, ...headers } },
      ...(method === "POST" && { body: new URLSearchParams() }),
    });
  /** How many are answered before the first 429. */
  const untilRefused = async (most: number, request: () => ReturnType<typeof send>): Promise<number> => {
    for (let n = 0; n <= most; n += 1) {
      const { status, headers, text } = await request();
      if (status !== 429) continue;
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(text).toContain("Too many requests.");
      return n;
    }
    throw new Error(`${most + 1} requests were answered`);
  };

  it("admits the forms of an account up to its limit, over all networks and pages", async () => {
    const { cookie } = await logIn(service, await service.person("ann"));
    const forms = service.pages.filter(({ method, path }) => method === "POST" && !WITHOUT_SESSION.has(path));
    expect(forms.length).toBeGreaterThan(10);
    await service.clock.advance(120_000);
    const submit = (page: Page) => send(page, nextNetwork(), { cookie });
    const [first, ...others] = forms as [Page, ...Page[]];
    const admitted = await untilRefused(RATE_LIMITS.form.limit, () => submit(first));
    expect(admitted).toBeLessThanOrEqual(RATE_LIMITS.form.limit);
    for (const page of others) expect([page.path, await untilRefused(1, () => submit(page))]).toEqual([page.path, 0]);
  });

  it("admits the forms of a network up to its limit, with or without a session, on every page", async () => {
    const forms = service.pages.filter(({ method }) => method === "POST");
    await service.clock.advance(120_000);
    const network = nextNetwork();
    // Another site's form costs nothing: the login's own limits are met before this one.
    const sendForm = (page: Sent) => send(page, network, { origin: "https://other.example" });
    // Each page once, and one of them as often as the limit then allows: all of them count, and then all are refused.
    const once = await Promise.all(forms.map(async (page) => [page.path, (await sendForm(page)).status === 429]));
    expect(once).toEqual(forms.map(({ path }) => [path, false]));
    const left = VISITOR_LIMITS.form - forms.length;
    expect(await untilRefused(left, () => sendForm({ method: "POST", path: "/login" }))).toBe(left);
    for (const page of forms) expect([page.path, await untilRefused(1, () => sendForm(page))]).toEqual([page.path, 0]);
  });

  it.each([
    ["/gallery", "search"],
    ["/oembed", "page"],
    ["/docs", "page"],
    ["/p/:slug", "page"],
    ["/p/:slug/social.jpg", "picture"],
    ["/p/:slug/512.webp", "picture"],
    ["/p/:slug/tile-960.webp", "picture"],
    ["/password/reset", "page"],
    ["/", "page"],
  ] as const)("counts %s for the network as %s", (path, cost) => {
    expect(service.pages.find((page) => page.method === "GET" && page.path === path)?.cost).toBe(cost);
  });

  it("refuses a network's searches above its limit, for a moment, and nobody else's", async () => {
    await service.clock.advance(120_000);
    const gallery = { method: "GET", path: "/gallery?q=lake" } as const;
    const network = nextNetwork();
    expect(await untilRefused(VISITOR_LIMITS.search, () => send(gallery, network))).toBe(VISITOR_LIMITS.search);
    expect((await send(gallery, nextNetwork())).status).toBe(200);
    await service.clock.advance(1_000);
    expect((await send(gallery, network)).status).toBe(200);
  });
});

/** Their own limits are those of passwords and e-mails (application/accounts/). */
const WITHOUT_SESSION = new Set(["/login", "/signup", "/password/forgot", "/password/reset"]);
