import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "../../../../adapters/web-page/page.js";
import { HttpService, NO_PAGES } from "../../../support/http-service.js";

/** Answers with its request as JSON. */
const echo = (method: Page["method"], path: string, body: Page["body"]): Page => ({
  method,
  path,
  body,
  handle: async ({ url, params, query, cookies, readBody }) => {
    const { form, files, bodyError } = await readBody();
    const read = await Promise.all(files.map(async (file) => Buffer.from(await file.read()).toString()));
    const given = { url, params, query: [...query], cookies: [...cookies], form: [...form], files: read, bodyError };
    return { status: 200, headers: {}, body: JSON.stringify(given) };
  },
});

describe("a mounted page", () => {
  let service: HttpService;
  let uploads: readonly string[] = [];

  /** Refuses, and lists what has been received until then. */
  const closed: Page = {
    method: "POST",
    path: "/closed",
    body: "files",
    handle: async () => {
      for (let n = 0; n < 5; n += 1) await ask("/shown/other"); // so long a body that is read arrives
      uploads = await readdir(join(service.folder, "uploads"), { recursive: true });
      return { status: 403, headers: {}, body: "no" };
    },
  };

  beforeAll(async () => {
    const pages = [
      echo("GET", "/shown/:name", "none"),
      echo("POST", "/fields", "fields"),
      echo("POST", "/files", "files"),
      closed,
    ];
    service = await HttpService.start({ web: { ...NO_PAGES, pages } });
  });
  afterAll(() => service.end());

  const ask = async (path: string, init: RequestInit = {}) =>
    (await (await fetch(service.url + path, init)).json()) as Record<string, unknown>;
  const post = (path: string, body: NonNullable<RequestInit["body"]>) => ask(path, { method: "POST", body });

  it("receives its decoded path parameters, its query and its cookies", async () => {
    const given = await ask("/shown/a%20b?x=1&x=2", { headers: { cookie: "session=abc=; other=1; broken" } });
    expect(given).toMatchObject({
      url: "/shown/a%20b?x=1&x=2",
      params: { name: "a b" },
      query: [
        ["x", "1"],
        ["x", "2"],
      ],
      cookies: [
        ["session", "abc="],
        ["other", "1"],
        ["broken", ""],
      ],
    });
    expect(await ask("/shown/%E0%A4%A")).toMatchObject({ params: { name: "" } });
    expect(await ask("/shown/a%00b")).toMatchObject({ params: { name: "" } });
  });

  it("reads the fields of a form", async () => {
    const given = await post("/fields", new URLSearchParams({ name: "ä&=", empty: "" }));
    expect(given).toMatchObject({
      form: [
        ["name", "ä&="],
        ["empty", ""],
      ],
    });
  });

  it("reads files and fields, without the empty file of an input without a selection", async () => {
    const form = new FormData();
    form.append("prompt", "a lake");
    form.append("files", new File(["first"], "1.png", { type: "image/png" }));
    form.append("files", new File([], "", { type: "application/octet-stream" }));
    expect(await post("/files", form)).toMatchObject({ form: [["prompt", "a lake"]], files: ["first"] });
    expect((await readdir(service.folder, { recursive: true })).filter((name) => name.includes("form-"))).toEqual([]);
  });

  it("receives an error instead of a body that is too large or malformed", async () => {
    expect(await post("/fields", new URLSearchParams({ much: "x".repeat(600_000) }))).toMatchObject({
      form: [],
      bodyError: { kind: "invalid_request", field: "body", rule: { name: "bytes_max", max: 524_288 } },
    });
    const form = new FormData();
    form.append("prompt", "x".repeat(70_000));
    expect(await post("/files", form)).toMatchObject({
      bodyError: { kind: "invalid_request", field: "prompt", rule: { name: "bytes_max", max: 65_536 } },
    });
    expect(await post("/files", "no form")).toMatchObject({
      bodyError: { field: "Content-Type", rule: { name: "content_type", expected: "multipart/form-data" } },
    });
  });

  it("can refuse a request without reading its body, and no file is written", async () => {
    const form = new FormData();
    form.append("files", new File(["x".repeat(1_000_000)], "1.png"));
    const answer = await fetch(`${service.url}/closed`, { method: "POST", body: form });
    expect(answer.status).toBe(403);
    expect(uploads).toEqual([expect.stringMatching(/^form-\w+$/)]); // an empty folder
  });
});
