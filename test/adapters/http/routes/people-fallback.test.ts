import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "../../../../adapters/web-page/page.js";
import { StoreBusy, StoreFull } from "../../../../application/ports/stores/store-errors.js";
import { HttpService, NO_PAGES } from "../../../support/http-service.js";
import { RawConnection } from "../../../support/raw-connection.js";

/** Pages of these paths throw these errors. */
const THROWN = {
  "/broken": new Error("the database is wrong"),
  "/full": new StoreFull("ENOSPC"),
  "/busy": new StoreBusy("another process has the lock"),
};
const pages = Object.entries(THROWN).map(
  ([path, thrown]): Page => ({ method: "GET", path, body: "none", handle: () => Promise.reject(thrown) }),
);

describe("a path that people open", () => {
  let service: HttpService;

  beforeAll(async () => {
    service = await HttpService.start({ web: { ...NO_PAGES, pages } });
  });
  afterAll(() => service.end());

  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(service.url + path, { redirect: "manual", ...init });
    return {
      status: answer.status,
      type: answer.headers.get("content-type"),
      location: answer.headers.get("location"),
      requestId: answer.headers.get("x-request-id"),
      body: await answer.text(),
    };
  };

  it.each(["/nope", "/gallery/nope", "/apis", "/assets.html"])(
    "%s is answered with a page if it does not exist",
    async (path) => {
      expect(await ask(path)).toMatchObject({
        status: 404,
        type: "text/html; charset=utf-8",
        body: "<p>no such page</p>",
      });
      expect(await ask(path, { method: "POST" })).toMatchObject({ status: 404, body: "<p>no such page</p>" });
    },
  );

  it.each(["/broken", "/full"] as const)("gets a page with the request id if it throws: %s", async (path) => {
    const { status, type, requestId, body } = await ask(path);
    expect([status, type, body]).toEqual([500, "text/html; charset=utf-8", `<p>failed: ${requestId}</p>`]);
    expect(service.failures.splice(0)).toEqual([{ requestId, error: THROWN[path] }]);
  });

  it("gets a page with a retry time if a store is busy", async () => {
    expect(await ask("/busy")).toMatchObject({ status: 429, body: "<p>busy: 2</p>" });
    expect(service.failures.splice(0)).toMatchObject([{ error: THROWN["/busy"] }]);
  });

  it.each(["/api", "/api/v1/nope", "/api/v1/credits/", "/hooks", "/payments/nope", "/assets/a", "/metrics/"])(
    "%s is answered with the JSON of an error, because programs call it",
    async (path) => {
      const { status, type, body } = await ask(path);
      expect([status, type, JSON.parse(body).error.code]).toEqual([404, "application/json", "not_found"]);
    },
  );

  it("redirects a path with a final slash, and keeps the query", async () => {
    expect(await ask("/gallery/")).toMatchObject({ status: 308, location: "/gallery" });
    expect(await ask("/p/abc//?embed=1")).toMatchObject({ status: 308, location: "/p/abc?embed=1" });
    expect((await ask("/gallery/", { method: "POST" })).status).toBe(404);
  });

  it("handles a path with thousands of slashes as fast as one without", async () => {
    const shortest = async (path: string): Promise<number> => {
      const times: number[] = [];
      for (let n = 0; n < 5; n += 1) {
        const startedAt = performance.now();
        expect((await ask(path)).status).toBe(404);
        times.push(performance.now() - startedAt);
      }
      return Math.min(...times);
    };
    const without = await shortest(`/a${"b".repeat(14_000)}/c`);
    // It took the square of their number: a hundred times as long.
    expect(await shortest(`/a${"/".repeat(14_000)}c`)).toBeLessThan(10 * without + 20);
  });

  it.each(["//evil.example/", "//evil.example/a/", "/\\evil.example/", "///"])(
    "%s is not redirected, because a browser would take it for another site",
    async (target) => {
      const connection = await RawConnection.open(service.port);
      connection.send(`GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`);
      const answer = await connection.response();
      connection.close();
      expect(answer.split("\r\n")[0]).toContain(" 404 ");
      expect(answer.toLowerCase()).not.toContain("location:");
    },
  );
});
