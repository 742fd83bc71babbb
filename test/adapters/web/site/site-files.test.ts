import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebService } from "../../../support/web-service.js";

describe("files at fixed paths", () => {
  let service: WebService;
  beforeAll(async () => {
    service = await WebService.start();
  });
  afterAll(() => service.end());

  it("/favicon.ico is an image", async () => {
    const answer = await fetch(`${service.url}/favicon.ico`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
  });

  it("/robots.txt disallows pages that need a login", async () => {
    const answer = await fetch(`${service.url}/robots.txt`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
    const lines = (await answer.text()).split("\n");
    expect(lines).toContain("Disallow: /works");
    expect(lines).not.toContain("Disallow: /");
  });

  it("a path that does not exist is a page in the layout, with the login state", async () => {
    const answer = await fetch(`${service.url}/nope`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    const page = await answer.text();
    expect(page).toContain("<h1>Page not found</h1>");
    expect(page).toContain('href="/login"');
  });
});
