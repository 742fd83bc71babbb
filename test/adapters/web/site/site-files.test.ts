import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { textOf } from "../../../support/page-code.js";
import { WebService } from "../../../support/web-service.js";

describe("what browsers and search engines ask for by a fixed path", () => {
  let service: WebService;
  beforeAll(async () => {
    service = await WebService.start();
  });
  afterAll(() => service.end());

  it("/favicon.ico is an image", async () => {
    const answer = await fetch(`${service.url}/favicon.ico`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
  });

  it("/robots.txt keeps search engines away from what needs a login", async () => {
    const answer = await fetch(`${service.url}/robots.txt`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
    const lines = (await answer.text()).split("\n");
    expect(lines).toContain("Disallow: /works");
    expect(lines).not.toContain("Disallow: /");
  });

  it("/llms.txt leads to a copy of the documentation in Markdown, which says what /docs says", async () => {
    const llms = await fetch(`${service.url}/llms.txt`);
    expect([llms.status, llms.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
    const [, link = ""] = /\[API reference\]\((\S+)\)/.exec(await llms.text()) ?? [];
    expect(link).toBe(`${service.url}/docs.md`);
    const answer = await fetch(link);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/markdown; charset=utf-8"]);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=3600");
    expect(answer.headers.get("link")).toBe('</docs>; rel="canonical"');
    const copy = await answer.text();
    const docs = await fetch(`${service.url}/docs`);
    expect(docs.headers.get("link")).toBe('</docs.md>; rel="alternate"; type="text/markdown"');
    const page = await docs.text();
    expect(page).toContain('<link rel="alternate" type="text/markdown" href="/docs.md">');
    const titles = [...page.matchAll(/<h2[^>]*>([^<]+)<\/h2>|<h3><a [^>]*>([^<]+)<\/a>/g)].map(([, h2, h3]) =>
      textOf(h2 ?? h3 ?? ""),
    );
    expect(titles).toContain("Idempotency");
    // Errors are one object on the page; the others are a group of the operations.
    const groups = ["Panoramas", "Images", "Events", "Abilities", "Credits", "Webhook requests", "Error"];
    const lines = copy.split("\n").map((line) => line.replace(/^#+ /, ""));
    expect(titles.filter((title) => !lines.includes(title) && !groups.includes(title))).toEqual([]);
    expect(copy).not.toMatch(/\{\{|\]\([#/]/);
  });

  it("a path that does not exist is a page in the layout, with the login state", async () => {
    const answer = await fetch(`${service.url}/nope`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    const page = await answer.text();
    expect(page).toContain("<h1>Page not found</h1>");
    expect(page).toContain('href="/login"');
  });
});
