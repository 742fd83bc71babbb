import type { Page } from "../web-page/page.js";
import { html } from "./html.js";
import type { Layout } from "./layout.js";
import type { SessionGuard } from "./session-guard.js";

/** `GET /docs`: the interface's OpenAPI description, to be read and tried. */
export const docsPage = (guard: SessionGuard, layout: Layout): Page => ({
  method: "GET",
  path: "/docs",
  body: "none",
  handle: async (request) =>
    layout.reply(200, {
      title: "API reference",
      visitor: await guard.visitor(request),
      scripts: ["docs.js"],
      styles: ["docs.css"],
      main: html`<div class="page"><h1>API reference</h1>
<p class="lead">REST interface, version 1. The same as a file for your tools: <a href="/api/v1/openapi.json">openapi.json</a></p></div>
<div id="docs" class="docs" data-description="/api/v1/openapi.json"></div>
<noscript><p class="page">Reading it here needs JavaScript; the file does not.</p></noscript>`,
    }),
});
