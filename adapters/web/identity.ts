import { createHash } from "node:crypto";
import { isCached } from "../web-page/is-cached.js";
import type { Page } from "../web-page/page.js";
import { type AccentColours, accentStyle, type Colour } from "./accent-colours.js";
import { type Html, html } from "./html.js";
import type { StaticFiles } from "./static-files.js";

/** What makes the pages those of one operator. What is absent is that of this software. */
export type Identity = {
  readonly name?: string | undefined;
  readonly mark?: Mark | undefined;
  readonly accent?: AccentColours | undefined;
};

/** The sign beside the name, which is also the icon of tabs and home screens. */
export type Mark =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "svg"; readonly content: Uint8Array }
  /** It is square. */
  | { readonly kind: "png"; readonly content: Uint8Array; readonly pixels: number };

export type Icon = {
  readonly url: string;
  readonly type: "image/svg+xml" | "image/png";
  /** As in a web manifest. */
  readonly sizes: string;
  readonly purpose?: "maskable";
};

/** The identity as the pages show it. */
export type Site = {
  readonly name: string;
  /** In the header, beside the name. */
  readonly mark: Html;
  /** For tabs and for the manifest, the best one first. */
  readonly icons: readonly [Icon, ...Icon[]];
  /** For home screens that take PNG only. */
  readonly touchIcon: string | undefined;
  readonly accent: Colour;
  /** Replaces the accent in the styles. */
  readonly style: string | undefined;
  /** Serve the operator's icon. */
  readonly pages: readonly Page[];
};

const NAME = "Panorama";
/** `--brand` of client/styles/colours.css, and the colour of client/pictures/icon.svg. */
const ACCENT: Colour = "#3d50d0";
const SVG = "image/svg+xml";

export const siteOf = (identity: Identity, files: StaticFiles): Site => {
  const { name = NAME, accent } = identity;
  const own = ownIcon(identity);
  const icon = own && { url: `/static/${digestOf(own.content)}-mark.${own.type === SVG ? "svg" : "png"}`, ...own };
  return {
    name,
    mark:
      icon === undefined || identity.mark === undefined
        ? MARK
        : html`<img class="own-mark" src="${icon.url}" width="28" height="28" alt="">`,
    icons:
      icon === undefined
        ? [
            { url: files.urlOf("icon.svg"), type: SVG, sizes: "any" },
            { url: files.urlOf("icon-512.png"), type: "image/png", sizes: "512x512", purpose: "maskable" },
          ]
        : [{ url: icon.url, type: icon.type, sizes: icon.sizes }],
    touchIcon: icon === undefined ? files.urlOf("touch-icon.png") : icon.type === SVG ? undefined : icon.url,
    accent: accent?.onLight ?? ACCENT,
    style: accent && accentStyle(accent),
    pages: icon === undefined ? [] : [iconPage(icon)],
  };
};

const MARK = html`<svg class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
<circle cx="16" cy="16" r="13"/><path d="M3.6 19.5c7-5.2 17.8-5.2 24.8 0"/><circle class="sun" cx="20.5" cy="10.5" r="2.6"/></svg>`;

type OwnIcon = Pick<Icon, "type" | "sizes"> & { readonly content: Uint8Array };

/** `undefined`: the built files do. */
const ownIcon = ({ mark, accent }: Identity): OwnIcon | undefined => {
  if (mark?.kind === "png") {
    return { type: "image/png", sizes: `${mark.pixels}x${mark.pixels}`, content: mark.content };
  }
  if (mark?.kind === "svg") return { type: SVG, sizes: "any", content: mark.content };
  if (mark === undefined && accent === undefined) return undefined;
  const colour = accent?.onLight ?? ACCENT;
  const content = mark === undefined ? markIn(colour) : textIcon(mark.text, colour);
  return { type: SVG, sizes: "any", content: Buffer.from(content.text) };
};

const markIn = (colour: Colour): Html =>
  html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="${colour}" stroke-width="2.4"><circle cx="16" cy="16" r="13"/><path d="M3.6 19.5c7-5.2 17.8-5.2 24.8 0"/><circle cx="20.5" cy="10.5" r="2.6" fill="${colour}" stroke="none"/></svg>`;

/** White text has enough contrast with an accent that text may have on white. */
const textIcon = (text: string, colour: Colour): Html => {
  const size = [20, 15, 12][[...new Intl.Segmenter().segment(text)].length - 1] ?? 12;
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${colour}"/><text x="16" y="16" dy=".36em" fill="#ffffff" font-family="ui-sans-serif,system-ui,sans-serif" font-weight="700" font-size="${size}" text-anchor="middle">${text}</text></svg>`;
};

const digestOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex").slice(0, 12);

const iconPage = ({ url, type, content }: OwnIcon & Pick<Icon, "url">): Page => ({
  method: "GET",
  path: url,
  body: "none",
  handle: async ({ headers }) => ({
    status: isCached(headers["if-none-match"], `"${digestOf(content)}"`) ? 304 : 200,
    headers: {
      "content-type": type,
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      etag: `"${digestOf(content)}"`,
      // A file of the operator's may have a script, which would be one of this site where it is opened on its own.
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    },
    body: content,
  }),
});
