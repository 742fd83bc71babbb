import { createHash } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import type { Identity } from "../../../adapters/web/identity.js";
import { WebService } from "../../support/web-service.js";

describe("the identity of an operator", () => {
  let service: WebService;
  afterEach(async () => {
    await service?.end();
    expect(service?.failures).toEqual([]);
  });

  const startAs = async (identity: Identity) => {
    service = await WebService.start(undefined, false, { identity });
    const read = async (path: string) => {
      const answer = await fetch(service.url + path);
      return { headers: answer.headers, status: answer.status, text: await answer.text() };
    };
    const manifest = async () => JSON.parse((await read("/manifest.webmanifest")).text);
    return { read, manifest };
  };

  it("defaults to this software's name and colours", async () => {
    const { read, manifest } = await startAs({});
    const { text, headers } = await read("/login");
    expect(text).toContain("<title>Log in · Panorama</title>");
    expect(text).toContain('<svg class="mark"');
    expect(text).not.toContain("<style>");
    expect(headers.get("content-security-policy")).toContain("style-src 'self';");
    expect(headers.get("content-security-policy")).toContain("manifest-src 'self';");
    const { icons, ...rest } = await manifest();
    expect(rest).toMatchObject({ name: "Panorama", start_url: "/", theme_color: "#3d50d0" });
    expect(icons).toMatchObject([
      { type: "image/svg+xml", sizes: "any" },
      { type: "image/png", sizes: "512x512", purpose: "maskable" },
    ]);
    for (const { src, type } of icons) {
      const icon = await read(src);
      expect([icon.status, icon.headers.get("content-type")]).toEqual([200, type]);
    }
  });

  it("shows the name in titles, header, link previews, oEmbed and manifest", async () => {
    const { read, manifest } = await startAs({ name: "Fern & Weh" });
    const ann = await service.person("ann");
    service.provider.play({ poll: "succeeded", download: "image" });
    const { slug } = await service.kept(ann, { prompt: "a lake", visibility: "public" });
    const name = "Fern &amp; Weh";
    expect((await read("/nope")).text).toContain(`<title>Page not found · ${name}</title>`);
    const front = (await read("/")).text;
    expect(front).toContain(`<span>${name}</span></a>`);
    for (const text of [front, (await read(`/p/${slug}`)).text]) {
      expect(text).toContain(`<meta property="og:site_name" content="${name}">`);
    }
    const oembed = await read(`/oembed?url=${encodeURIComponent(`${service.url}/p/${slug}`)}`);
    expect(JSON.parse(oembed.text)).toMatchObject({ provider_name: "Fern & Weh", title: "a lake" });
    expect(await manifest()).toMatchObject({ name: "Fern & Weh" });
  });

  it("applies the accent to pages, allowed by its digest, and to the icon", async () => {
    const { read, manifest } = await startAs({ accent: { onLight: "#0b6e5f", onDark: "#7fd0c2" } });
    for (const path of ["/login", "/docs", "/"]) {
      const { text, headers } = await read(path);
      const [, style = ""] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
      expect(style).toMatch(/:root\{--brand:#0b6e5f;--accent:light-dark\(#0b6e5f,#7fd0c2\);[^}]*\}$/);
      const digest = createHash("sha256").update(style).digest("base64");
      expect(headers.get("content-security-policy")).toContain(`style-src 'self' 'sha256-${digest}';`);
    }
    const { icons, theme_color: theme } = await manifest();
    expect([theme, icons.length]).toEqual(["#0b6e5f", 1]);
    const icon = await read(icons[0].src);
    expect([icon.headers.get("content-type"), icon.text]).toEqual([
      "image/svg+xml",
      expect.stringContaining('stroke="#0b6e5f"'),
    ]);
    const { text } = await read("/login");
    expect(text).toContain(`<link rel="icon" type="image/svg+xml" href="${icons[0].src}">`);
    expect(text).not.toContain("apple-touch-icon");
    expect((await read("/favicon.ico")).text).toBe(icon.text);
    const again = await fetch(service.url + icons[0].src, {
      headers: { "if-none-match": icon.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
  });
});
