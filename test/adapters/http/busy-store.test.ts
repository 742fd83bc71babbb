import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StoreBusy } from "../../../application/ports/stores/store-errors.js";
import { HttpService, NO_PAGES } from "../../support/http-service.js";

describe("a request that meets a busy store", () => {
  const busy = () => Promise.reject(new StoreBusy("another process has the lock"));
  let service: HttpService;

  beforeEach(async () => {
    const page = { method: "POST", path: "/works", body: "fields", handle: busy } as const;
    service = await HttpService.start({
      panoramas: { create: busy, cancel: busy },
      web: { ...NO_PAGES, pages: [page] },
    });
  });
  afterEach(() => service.end());

  it.each(["/panoramas", "/panoramas/ID/cancel"])("is answered with 429 and a time to wait: POST %s", async (path) => {
    const customer = await service.customer();
    const body = JSON.stringify({ prompt: "a quiet lake", resolution: "1k" });
    const url = path.replace("ID", service.ids.taskId());
    const answer = await service.request(url, customer, { method: "POST", body });
    expect([answer.status, answer.headers.get("retry-after"), await answer.json()]).toEqual([
      429,
      "2",
      {
        error: {
          code: "rate_limited",
          message: "The service is busy and could not complete this request. Nothing was charged. Retry in 2 s.",
        },
      },
    ]);
    expect(service.failures).toMatchObject([{ error: { message: "another process has the lock" } }]);
    expect(service.finished.at(-1)).toMatchObject({ status: 429, error: "store_busy" });
  });

  it("gets a page in a browser", async () => {
    const answer = await fetch(`${service.url}/works`, { method: "POST" });
    expect([answer.status, await answer.text()]).toEqual([429, "<p>busy: 2</p>"]);
  });
});
