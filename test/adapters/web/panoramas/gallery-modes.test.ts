import { afterEach, describe, expect, it } from "vitest";
import type { GalleryMode } from "../../../../domain/tasks/visibility.js";
import { PASSWORD, WebService } from "../../../support/web-service.js";

describe("the setting gallery", () => {
  let service: WebService;
  afterEach(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });

  /** With two public panoramas. */
  const startIn = async (gallery: GalleryMode) => {
    service = await WebService.start(undefined, false, { gallery });
    const ann = await service.person("ann");
    service.provider.play({ poll: "succeeded", download: "image" });
    await service.kept(ann, { prompt: "a quiet lake" });
    const other = await service.kept(ann, { prompt: "any other lake" });
    const read = async (path: string) => {
      const answer = await fetch(service.url + path);
      const text = await answer.text();
      return {
        status: answer.status,
        shown: ["a quiet lake", "any other lake"].filter((prompt) => text.includes(prompt)),
        links: text.includes('href="/gallery"'),
        searches: text.includes('role="search"'),
      };
    };
    return { other, read };
  };

  it("off has no gallery, and opens public panoramas by their links", async () => {
    const { other, read } = await startIn("off");
    for (const path of ["/gallery", "/gallery?q=lake"]) {
      expect(await read(path)).toEqual({ status: 404, shown: [], links: false, searches: false });
    }
    expect(await read("/")).toMatchObject({ status: 200, links: false });
    expect(await read(`/p/${other.slug}`)).toMatchObject({ status: 200, shown: ["any other lake"], links: false });
    const login = await fetch(`${service.url}/login`, {
      method: "POST",
      redirect: "manual",
      headers: { origin: service.url },
      body: new URLSearchParams({ email: "ann@example.com", password: PASSWORD }),
    });
    const [cookie = ""] = login.headers.getSetCookie();
    const works = await (await fetch(`${service.url}/works`, { headers: { cookie } })).text();
    expect(works).toContain("<strong>Public</strong><small>by its link</small>");
  });

  it("open shows all", async () => {
    const { read } = await startIn("open");
    const all = { status: 200, shown: ["a quiet lake", "any other lake"], links: true, searches: true };
    expect(await read("/gallery?q=lake")).toEqual(all);
  });
});
