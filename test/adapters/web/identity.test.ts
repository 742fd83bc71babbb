import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Identity } from "../../../adapters/web/identity.js";
import { startService, visiting } from "../../support/visit.js";

describe("the identity of an operator", () => {
  const startAs = async (identity: Identity) => {
    const service = await startService({ identity });
    const { get } = visiting(service);
    const manifest = async () => JSON.parse((await get("/manifest.webmanifest")).text);
    return { service, get, manifest };
  };

  it("defaults to this software's name and colours", async () => {
    const { get, manifest } = await startAs({});
    const { text, headers } = await get("/login");
    expect(text).toContain("<title>Log in · Panorama</title>");
    expect(text).toContain('<svg class="mark"');
    expect(text).not.toContain("<style>");
    expect(headers.get("content-security-policy")).toContain("manifest-src 'self';");
    const { icons, ...rest } = await manifest();
    expect(rest).toMatchObject({ name: "Panorama", start_url: "/", theme_color: "#3d50d0" });
    expect(icons).toMatchObject([
      { type: "image/svg+xml", sizes: "any" },
      { type: "image/png", sizes: "512x512", purpose: "maskable" },
    ]);
    for (const { src, type } of icons) {
      const icon = await get(src);
      expect([icon.status, icon.headers.get("content-type")]).toEqual([200, type]);
    }
  });

  it("shows the name in titles, header, link previews, oEmbed and manifest", async () => {
    const { service, get, manifest } = await startAs({ name: "Fern & Weh" });
    service.provider.play({ poll: "succeeded", download: "image" });
    const { slug } = await service.kept(await service.person("ann"), { prompt: "a lake", visibility: "public" });
    const name = "Fern &amp; Weh";
    expect((await get("/nope")).text).toContain(`<title>Page not found · ${name}</title>`);
    const front = (await get("/")).text;
    expect(front).toContain(`<span>${name}</span></a>`);
    for (const text of [front, (await get(`/p/${slug}`)).text])
      expect(text).toContain(`<meta property="og:site_name" content="${name}">`);
    const oembed = await get(`/oembed?url=${encodeURIComponent(`${service.url}/p/${slug}`)}`);
    expect(JSON.parse(oembed.text)).toMatchObject({ provider_name: "Fern & Weh", title: "a lake" });
    expect(await manifest()).toMatchObject({ name: "Fern & Weh" });
  });

  it("applies the accent to pages, allowed by its digest, and to the icon", async () => {
    const { get, manifest } = await startAs({ accent: { onLight: "#0b6e5f", onDark: "#7fd0c2" } });
    for (const path of ["/login", "/docs", "/"]) {
      const { text, headers } = await get(path);
      const [, style = ""] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
      expect(style).toMatch(/:root\{--brand:#0b6e5f;--accent:light-dark\(#0b6e5f,#7fd0c2\)\}$/);
      const digest = createHash("sha256").update(style).digest("base64");
      expect(headers.get("content-security-policy")).toContain(`style-src 'self' 'sha256-${digest}';`);
    }
    const { icons, theme_color: theme } = await manifest();
    expect([theme, icons.length]).toEqual(["#0b6e5f", 1]);
    const icon = await get(icons[0].src);
    expect([icon.headers.get("content-type"), icon.text]).toEqual([
      "image/svg+xml",
      expect.stringContaining('stroke="#0b6e5f"'),
    ]);
    const { text } = await get("/login");
    expect(text).toContain(`<link rel="icon" type="image/svg+xml" href="${icons[0].src}">`);
    expect(text).not.toContain("apple-touch-icon");
    expect((await get("/favicon.ico")).location).toBe(icons[0].src);
    expect((await get(icons[0].src, { "if-none-match": icon.headers.get("etag") ?? "" })).status).toBe(304);
  });
});
