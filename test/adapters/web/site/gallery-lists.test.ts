import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { html } from "../../../../adapters/web/html.js";
import type { SucceededTask } from "../../../../domain/tasks/task.js";
import { WebService } from "../../../support/web-service.js";

describe("the sitemap and the feed", () => {
  let service: WebService;
  let first: SucceededTask;

  beforeAll(async () => {
    service = await WebService.start(undefined, false, {
      legal: [{ path: "/terms", title: "Terms", content: html`<p>Terms</p>` }],
    });
    const ann = await service.person("ann");
    service.provider.play({ poll: "succeeded", download: "image" });
    first = await service.kept(ann, { prompt: "a quiet lake" });
  });
  afterAll(async () => {
    await service.end();
    expect(service.failures).toEqual([]);
  });

  const publish = (prompt: string): SucceededTask => {
    const request = { ...first.request, prompt } as SucceededTask["request"];
    const task = { ...first, id: service.ids.taskId(), slug: service.ids.slug(), request };
    service.database.tasks.set(task.id, { task, place: undefined, dueAt: undefined, fence: 0, hidden: false });
    return task;
  };
  const read = async (path: string) => {
    const answer = await fetch(service.url + path);
    return { type: answer.headers.get("content-type"), text: await answer.text(), headers: answer.headers };
  };
  const locations = async () =>
    [...(await read("/sitemap.xml")).text.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, url = ""]) =>
      url.replace(service.url, ""),
    );
  const PAGES = ["/", "/docs", "/mcp", "/gallery", "/terms"];

  it("the sitemap names the pages of the site and what the gallery has, and robots.txt names it", async () => {
    expect(await locations()).toEqual([...PAGES, `/p/${first.slug}`]);
    const { type, headers, text } = await read("/sitemap.xml");
    expect([type, headers.get("cache-control")]).toEqual(["application/xml", "public, max-age=3600"]);
    expect(text).toContain(`<lastmod>${first.succeededAt.toISOString()}</lastmod>`);
    expect((await read("/robots.txt")).text).toContain(`\nSitemap: ${service.url}/sitemap.xml\n`);
  });

  it("the feed shows the newest panoramas with their pictures, and pages name it", async () => {
    const newest = publish('a "glass" <tower> & \u0001sea');
    const { type, text } = await read("/gallery.atom");
    expect(type).toBe("application/atom+xml");
    expect([...text.matchAll(/<entry><id>(.*?)<\/id>/g)].map(([, id]) => id)).toEqual(
      [newest, first].map(({ slug }) => `${service.url}/p/${slug}`),
    );
    expect(text).toContain("<title>a &quot;glass&quot; &lt;tower&gt; &amp; sea</title>");
    expect(text).toContain(`<link rel="enclosure" type="image/jpeg" href="${service.url}/p/${first.slug}/social.jpg`);
    // HTML in XML: the title is escaped twice.
    expect(text).toContain("&lt;br&gt;a &amp;quot;glass&amp;quot; &amp;lt;tower&amp;gt;");
    expect(text).not.toContain("\u0001");
    expect(text).toContain(`<updated>${first.succeededAt.toISOString()}</updated>`);
    for (const path of ["/", "/gallery"]) {
      expect((await read(path)).text).toContain('rel="alternate" type="application/atom+xml" href="/gallery.atom"');
    }
  });

  it("are limited: the feed to 24, the sitemap to the newest 1,000", async () => {
    const all = Array.from({ length: 1_010 }, (_, n) => publish(`lake ${n}`));
    const newest = all.map(({ slug }) => `/p/${slug}`).reverse();
    expect(await locations()).toEqual([...PAGES, ...newest.slice(0, 1_000)]);
    expect((await read("/gallery.atom")).text.match(/<entry>/g)).toHaveLength(24);
  });
});
