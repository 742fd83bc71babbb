import type { Page } from "../web-page/page.js";
import { html } from "./html.js";
import type { Layout } from "./layout.js";
import type { SessionGuard } from "./session-guard.js";

/** `GET /docs`: shows the OpenAPI description of the REST interface; requests can be tried out. */
export const docsPage = (guard: SessionGuard, layout: Layout): Page => ({
  method: "GET",
  path: "/docs",
  body: "none",
  handle: async (request) =>
    layout.reply(200, {
      title: "API reference",
      description:
        "The REST interface of Panorama: create 360° panoramas from your own programs, poll them or get webhooks.",
      visitor: await guard.visitor(request),
      scripts: ["docs.js"],
      styles: ["docs.css"],
      main: html`<div class="page"><h1>API reference</h1>
<p class="lead">REST interface, version 1. Description for your tools: <a href="/api/v1/openapi.json">openapi.json</a></p></div>
<div id="docs" class="docs" data-description="/api/v1/openapi.json"></div>
<noscript><p class="page">This page needs JavaScript. The file openapi.json does not.</p></noscript>`,
    }),
});
