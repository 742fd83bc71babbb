import { createHash } from "node:crypto";
import { isCached } from "../web-page/cache-headers.js";
import type { Page } from "../web-page/page.js";
import { type AccentColours, accentStyle, type Colour } from "./accent-colours.js";
import { html } from "./html.js";
import { STATIC_HEADERS, type StaticFiles } from "./static-files.js";

/** Name and colours of an operator's pages. Absent members have the defaults of this software. */
export type Identity = {
  readonly name?: string | undefined;
  readonly accent?: AccentColours | undefined;
};

type Icon = {
  readonly url: string;
  readonly type: "image/svg+xml" | "image/png";
  /** As in a web manifest. */
  readonly sizes: string;
  readonly purpose?: "maskable";
};

/** The identity as the pages show it. */
export type Site = {
  readonly name: string;
  /** For tabs and for the manifest, the best one first. */
  readonly icons: readonly [Icon, ...Icon[]];
  /** For home screens that take PNG only. */
  readonly touchIcon: string | undefined;
  readonly accent: Colour;
  /** Replaces the accent in the styles. */
  readonly style: string | undefined;
  /** Serve the icon in the operator's accent. */
  readonly pages: readonly Page[];
};

const NAME = "Panorama";
/** `--brand` of client/styles/tokens.css, and the colour of client/pictures/icon.svg. */
const ACCENT: Colour = "#3d50d0";
const SVG = "image/svg+xml";

export function siteOf({ name = NAME, accent }: Identity, files: StaticFiles): Site {
  if (accent === undefined) {
    const icons = [
      { url: files.urlOf("icon.svg"), type: SVG, sizes: "any" },
      { url: files.urlOf("icon-512.png"), type: "image/png", sizes: "512x512", purpose: "maskable" },
    ] as const;
    return { name, icons, touchIcon: files.urlOf("touch-icon.png"), accent: ACCENT, style: undefined, pages: [] };
  }
  const content = iconIn(accent.onLight);
  const digest = createHash("sha256").update(content).digest("hex").slice(0, 12);
  const url = `/static/${digest}-icon.svg`;
  return {
    name,
    icons: [{ url, type: SVG, sizes: "any" }],
    touchIcon: undefined,
    accent: accent.onLight,
    style: accentStyle(accent),
    pages: [iconPage(url, digest, content)],
  };
}

/** client/pictures/icon.svg in another colour. */
const iconIn = (colour: Colour): string =>
  html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="${colour}" stroke-width="2.4"><circle cx="16" cy="16" r="13"/><path d="M3.6 19.5c7-5.2 17.8-5.2 24.8 0"/><circle cx="20.5" cy="10.5" r="2.6" fill="${colour}" stroke="none"/></svg>`
    .text;

const iconPage = (url: string, digest: string, content: string): Page => ({
  method: "GET",
  path: url,
  body: "none",
  handle: async ({ headers }) => ({
    status: isCached(headers["if-none-match"], `"${digest}"`) ? 304 : 200,
    headers: { ...STATIC_HEADERS, "content-type": SVG, etag: `"${digest}"` },
    body: content,
  }),
});
