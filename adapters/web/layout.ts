import { createHash } from "node:crypto";
import type { Visitor } from "../../application/accounts/sessions.js";
import { FOR_ANY_ORIGIN } from "../web-page/any-origin.js";
import type { PageReply } from "../web-page/page.js";
import type { InvalidMessage } from "../wording/rule-predicate.js";
import { Html, html } from "./html.js";
import { type Identity, type Site, siteOf } from "./identity.js";
import type { StaticFiles } from "./static-files.js";

export type Content = {
  readonly title: string;
  /** One or two sentences for search engines and link previews. */
  readonly description?: string;
  readonly main: Html;
  /** Additional elements of the head, such as descriptions for link previews. */
  readonly head?: Html | undefined;
  /** File names of built scripts. */
  readonly scripts?: readonly string[];
  /** File names of built modules that these load: they are requested at once. */
  readonly modules?: readonly string[];
  readonly styles?: readonly string[];
  /** Puts the styles into the page, so that its first paint waits for no second request. */
  readonly inlineStyles?: boolean;
  readonly visitor?: Visitor | undefined;
  /**
   * `stage`: the main part is dark and fills the window. `bare`: also without the header. `hero-page`: the header lies
   * over a picture at the top of the main part. `gate`: one thing to do, over the blurred picture of the landing page.
   */
  readonly frame?: "stage" | "bare" | "hero-page" | "gate";
  /** The entry of the menu to which the page belongs. */
  readonly place?: "/gallery" | "/docs" | "/mcp" | "/works" | "/account";
  /** True if other sites may show the page in a frame, also in a sandboxed one, whose scripts read it with CORS. */
  readonly embeddable?: boolean;
  /** True if a sandboxed frame may open the page: browsers refuse that to a page with an opener policy. */
  readonly linkable?: boolean;
  /** Other origins to which the answer to a form may redirect. */
  readonly formTargets?: readonly string[];
};

type LayoutParts = {
  readonly files: StaticFiles;
  /** The origin that serves stored images. */
  readonly imageOrigin: string;
  readonly identity?: Identity;
  /** Additional pages that the footer names. */
  readonly footerLinks?: readonly FooterLink[];
  readonly hasGallery?: boolean;
  /** True if everybody can sign up. */
  readonly hasSignUp?: boolean;
};

type Message = { readonly title: string; readonly sentence: string };

/** Renders complete pages with their security headers. */
export class Layout {
  /** True if there is a gallery to link to. */
  readonly hasGallery: boolean;
  /** True if everybody can sign up. */
  readonly hasSignUp: boolean;
  readonly site: Site;
  private readonly files: StaticFiles;
  private readonly imageOrigin: string;
  private readonly footer: Html;
  /** By the names of the files: the same for every visitor. */
  private readonly inlineStyles = new Map<string, Inline>();
  private readonly themeScript: Inline;

  constructor({
    files,
    imageOrigin,
    identity = {},
    footerLinks = [],
    hasGallery = true,
    hasSignUp = true,
  }: LayoutParts) {
    this.hasSignUp = hasSignUp;
    this.files = files;
    this.imageOrigin = imageOrigin;
    this.hasGallery = hasGallery;
    this.site = siteOf(identity, files);
    this.footer = footer(footerLinks, hasGallery);
    this.themeScript = inline("script", files.textOf("theme.js"));
  }

  reply(status: number, content: Content, headers: Readonly<Record<string, string>> = {}): PageReply {
    const style = this.inlineStyle(content.inlineStyles === true ? stylesOf(content) : []);
    const page = this.page(content, style?.element);
    return {
      status,
      headers: {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "content-security-policy": this.policy(content, style?.source),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        ...(!content.embeddable && !content.linkable && { "cross-origin-opener-policy": "same-origin" }),
        vary: "cookie",
        // A page with an embedder policy shows only frames that have one too. All that the frame loads fits it.
        ...(content.embeddable && { ...FOR_ANY_ORIGIN, "cross-origin-embedder-policy": "require-corp" }),
        ...headers,
      },
      body: `<!doctype html>\n${page.text}`,
      // The pages of members have the form token, and what only they may see.
      compressible: content.visitor === undefined,
    };
  }

  notFound(visitor: Visitor | undefined): PageReply {
    const sentence = "This page does not exist, or you do not have access to it.";
    return this.message(404, { title: "Page not found", sentence }, visitor);
  }

  /** The page after an unexpected error. It shows no login state, because the database may be unavailable. */
  failed(requestId: string, again: string | undefined): PageReply {
    const sentence = `Something went wrong on our side. Try again in a moment. If it happens again, tell the operator this request id: ${requestId}.`;
    return this.message(500, { title: "Something went wrong", sentence }, undefined, again);
  }

  /** The page after too many requests. It reads nothing. */
  limited(retryAfterSeconds: number, visitor: Visitor | undefined, again?: string): PageReply {
    const sentence = `Too many requests. Try again in ${retryAfterSeconds} s.`;
    return retriedAfter(retryAfterSeconds, this.message(429, { title: "Please wait", sentence }, visitor, again));
  }

  /** The page if the database was busy for too long. It shows no login state. */
  busy(retryAfterSeconds: number, again: string | undefined): PageReply {
    const sentence = `The service is busy and could not do this. Nothing was charged. Try again in ${retryAfterSeconds} seconds.`;
    return retriedAfter(
      retryAfterSeconds,
      this.message(429, { title: "Please try again", sentence }, undefined, again),
    );
  }

  /** A page with one sentence. `again`: the path of the page that may work in a moment. */
  message(status: number, { title, sentence }: Message, visitor: Visitor | undefined, again?: string): PageReply {
    const message = html`<h1>${title}</h1><p>${sentence}</p>`;
    const retry = again !== undefined && html`<a class="button" href="${again}">Try again</a> `;
    const style = again === undefined ? "button" : "button quiet";
    const main = html`<div class="message">${message}
      <p>${retry}${this.hasGallery ? html`<a class="${style}" href="/gallery">Go to the gallery</a>` : html`<a class="${style}" href="/">Go to the front page</a>`}</p></div>`;
    return this.reply(status, { title, main, visitor, frame: "gate" });
  }

  /** The answer to a form that no page of this service has sent, or that an earlier session has shown. */
  refusedForm(visitor: Visitor | undefined): PageReply {
    const sentence = "This form is outdated, or another site sent it. Go back, reload the page and try again.";
    return this.message(403, { title: "Request refused", sentence }, visitor);
  }

  /** The answer to a form whose body was not read. */
  unreadForm({ rule }: InvalidMessage, visitor: Visitor | undefined): PageReply {
    if (rule.name !== "bytes_max") return this.refusedForm(visitor);
    const sentence = `Its texts have more than ${rule.max / 1024} kB, so nothing was saved. Go back, shorten them, and send the form again.`;
    return this.message(413, { title: "The form is too large", sentence }, visitor);
  }

  private page(content: Content, inlineStyle: Html | undefined): Html {
    const { title, description, main, head, scripts = [], modules = [], frame } = content;
    const { name, icons, touchIcon } = this.site;
    return html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${!isStage(content) && this.themeScript.element}
<title>${title} · ${name}</title>
${description !== undefined && html`<meta name="description" content="${description}">`}
<link rel="preload" href="${this.files.urlOf("display.woff2")}" as="font" type="font/woff2" crossorigin>
${content.inlineStyles !== true && stylesOf(content).map((file) => html`<link rel="stylesheet" href="${this.files.urlOf(file)}">`)}${inlineStyle}
<link rel="icon" type="${icons[0].type}" href="${icons[0].url}">
${touchIcon !== undefined && html`<link rel="apple-touch-icon" href="${touchIcon}">`}
<link rel="manifest" href="/manifest.webmanifest">
${head}
${modules.map((name) => html`<link rel="modulepreload" href="${this.files.urlOf(name)}">`)}
${scripts.map((name) => html`<script type="module" src="${this.files.urlOf(name)}"></script>`)}
</head>
<body class="${frame ?? "plain"}${isStage(content) && " dark"}">
${frame !== "bare" && html`<a class="skip" href="#main">Skip to the content</a>${header(content, this)}`}
<main id="main" tabindex="-1">${main}</main>
${!isStage(content) && this.footer}
</body>
</html>
`;
  }

  /** Inline style: these files and the operator's colours. */
  private inlineStyle(names: readonly string[]): Inline | undefined {
    const key = names.join();
    const known = this.inlineStyles.get(key);
    if (known !== undefined) return known;
    const style = [...names.map((name) => this.files.textOf(name)), this.site.style ?? ""].join("");
    if (style === "") return undefined;
    const made = inline("style", style);
    this.inlineStyles.set(key, made);
    return made;
  }

  private policy(content: Content, styleSource: string | undefined): string {
    const { embeddable = false, formTargets = [] } = content;
    return [
      "default-src 'none'",
      `script-src ${["'self'", ...(isStage(content) ? [] : [this.themeScript.source])].join(" ")}`,
      `style-src ${["'self'", ...(styleSource === undefined ? [] : [styleSource])].join(" ")}`,
      `img-src 'self' data: blob: ${this.imageOrigin}`,
      `connect-src 'self' blob: ${this.imageOrigin}`,
      "font-src 'self'",
      "manifest-src 'self'",
      "base-uri 'none'",
      `form-action ${["'self'", ...formTargets].join(" ")}`,
      `frame-ancestors ${embeddable ? "*" : "'none'"}`,
    ].join("; ");
  }
}

/** True if the page is always dark. The others have a light and a dark scheme. */
const isStage = ({ frame }: Content): boolean => frame === "stage" || frame === "bare";

/** An element with a text of this service, and how the content security policy allows it. */
type Inline = { readonly element: Html; readonly source: string };

const inline = (element: "script" | "style", text: string): Inline => ({
  element: new Html(`<${element}>${text}</${element}>`),
  source: `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
});

const stylesOf = ({ styles = [] }: Content): readonly string[] => ["style.css", ...styles];

/** Features of this installation. */
type Offered = { readonly hasGallery: boolean; readonly hasSignUp: boolean; readonly site: Site };

/** The sign beside the name. */
const MARK = html`<svg class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
<circle cx="16" cy="16" r="13"/><path d="M3.6 19.5c7-5.2 17.8-5.2 24.8 0"/><circle class="sun" cx="20.5" cy="10.5" r="2.6"/></svg>`;

const header = ({ visitor, place }: Content, offered: Offered): Html => html`<header class="site">
<a class="brand" href="/">${MARK}<span>${offered.site.name}</span></a>
${menu(visitor, offered, place)}
</header>`;

type Place = Content["place"];

const menu = (visitor: Visitor | undefined, { hasGallery, hasSignUp }: Offered, place: Place): Html => html`
<nav aria-label="Main">${hasGallery && menuLink("/gallery", "Gallery", place)}
${menuLink("/docs", "API", place, "wide")}
${menuLink("/mcp", "MCP", place, "wide")}
${visitor === undefined ? guestLinks(hasSignUp) : memberLinks(visitor, place)}
</nav>`;

/** The pages below an entry belong to it, too. */
const menuLink = (path: NonNullable<Place>, label: string, place: Place, style?: string): Html =>
  html`<a href="${path}"${style !== undefined && html` class="${style}"`}${path === place && html` aria-current="true"`}>${label}</a>`;

const guestLinks = (hasSignUp: boolean): Html =>
  hasSignUp
    ? html`<a href="/login">Log in</a><a class="button small" href="/signup">Sign up</a>`
    : html`<a class="button small" href="/login">Log in</a>`;

const memberLinks = ({ formToken }: Visitor, place: Place): Html => html`${menuLink("/works", "My panoramas", place)}
${menuLink("/account", "Account", place)}
<form method="post" action="/logout" class="wide">${hiddenToken(formToken)}<button class="link">Log out</button></form>`;

/** The form token, which proves that a page of this service sent the form (session-guard.ts). */
export const hiddenToken = (formToken: string): Html =>
  html`<input type="hidden" name="form_token" value="${formToken}">`;

/** A page of this site, and the words of the link to it. */
type FooterLink = { readonly path: string; readonly title: string };

const footer = (links: readonly FooterLink[], hasGallery: boolean): Html => html`<footer class="site row">
<span>360° panoramas from text and images</span>
<nav class="cluster" aria-label="More">${hasGallery && html`<a href="/gallery">Gallery</a> `}<a href="/docs">API reference</a> <a href="/mcp">Assistants (MCP)</a>
${links.map(({ path, title }) => html`<a href="${path}">${title}</a> `)}</nav>${THEME}</footer>`;

/** Shown by its script, client/theme.ts. */
const THEME = html`<label class="theme">Theme <select id="theme" autocomplete="off">
<option value="system">System</option><option value="light">Light</option><option value="dark">Dark</option></select></label>`;

const retriedAfter = (seconds: number, page: PageReply): PageReply => ({
  ...page,
  headers: { ...page.headers, "retry-after": String(seconds) },
});
