import { afterEach, describe, expect, it } from "vitest";
import type { GalleryMode } from "../../../../domain/tasks/gallery.js";
import { PASSWORD, WebService } from "../../../support/web-service.js";

describe("the setting gallery", () => {
  let service: WebService;
  afterEach(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });

  /** With an approved panorama and one that is only public. */
  const startIn = async (gallery: GalleryMode) => {
    service = await WebService.start(undefined, false, { gallery });
    const ann = await service.person("ann");
    service.provider.play({ poll: "succeeded", download: "image" });
    const approved = await service.kept(ann, { prompt: "an approved lake" });
    const other = await service.kept(ann, { prompt: "any other lake" });
    (await service.tasks.choose(approved.id, "approved", service.clock.now()))._unsafeUnwrap();
    const read = async (path: string) => {
      const answer = await fetch(service.url + path);
      const text = await answer.text();
      return {
        status: answer.status,
        shown: ["an approved lake", "any other lake"].filter((prompt) => text.includes(prompt)),
        links: text.includes('href="/gallery"'),
        searches: text.includes('role="search"'),
      };
    };
    return { approved, other, read };
  };

  it("approved shows what operators have approved, without a search", async () => {
    const { approved, other, read } = await startIn("approved");
    const only = { status: 200, shown: ["an approved lake"], links: true, searches: false };
    for (const path of ["/gallery", "/gallery?q=lake", "/gallery?sort=oldest"]) expect(await read(path)).toEqual(only);
    expect((await read(`/p/${other.slug}`)).shown).toEqual(["any other lake"]);
    expect((await read(`/p/${approved.slug}`)).shown).toEqual(["an approved lake"]);
  });

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
    const all = { status: 200, shown: ["an approved lake", "any other lake"], links: true, searches: true };
    expect(await read("/gallery?q=lake")).toEqual(all);
  });
});
