import type { Page } from "../web-page/page.js";
import { html } from "./html.js";
import type { Layout } from "./layout.js";
import type { SessionGuard } from "./session-guard.js";

/** The MCP server as people get it: what to paste where, and the package itself. */
export type McpOffer = {
  readonly npx: string;
  readonly npxOnWindows: string;
  readonly vsCode: string;
  readonly claudeCode: string;
  readonly packagePath: string;
};

/** `GET /mcp`: how an assistant makes panoramas. */
export const mcpPage = (offer: McpOffer, guard: SessionGuard, layout: Layout): Page => ({
  method: "GET",
  path: "/mcp",
  body: "none",
  handle: async (request) =>
    layout.reply(200, {
      title: "Panoramas in your assistant",
      visitor: await guard.visitor(request),
      main: html`<div class="page prose"><h1>Panoramas in your assistant</h1>
<p class="lead">A local MCP server lets an assistant make 360° panoramas with your credits. It runs on your own machine and
needs Node.js 20 or later. Downloading it is free.</p>
<ol>
<li>Make an API key on <a href="/account">your account's page</a>. It needs one paid order.</li>
<li>Paste the configuration of your client from below, with your key in the place of <code>sk-...</code>.
The key stays in that file: never type it into a chat.</li>
<li>Restart the client, and ask for a panorama.</li>
</ol>

<h2>Claude Desktop, Cursor, Windsurf, Cline and most other clients</h2>
<p>Claude Desktop: Settings, Developer, Edit Config (<code>claude_desktop_config.json</code>). Cursor:
<code>~/.cursor/mcp.json</code>. Windsurf: <code>~/.codeium/windsurf/mcp_config.json</code>.</p>
<pre tabindex="0"><code>${offer.npx}</code></pre>

<h2>The same on Windows</h2>
<pre tabindex="0"><code>${offer.npxOnWindows}</code></pre>

<h2>VS Code</h2>
<p><code>.vscode/mcp.json</code>; on Windows with <code>npx.cmd</code>:</p>
<pre tabindex="0"><code>${offer.vsCode}</code></pre>

<h2>Claude Code</h2>
<pre tabindex="0"><code>${offer.claudeCode}</code></pre>

<h2>What it can do</h2>
<ul>
<li><code>generate_panorama_from_text</code> and <code>generate_panorama_from_images</code>: a panorama for 4 (1k), 6 (2k) or
10 (4k) credits</li>
<li><code>get_panorama_task</code>: how it goes, and the links to the image and the viewer</li>
<li><code>get_credit_balance</code>: what is left</li>
<li><code>upload_reference_images</code>: public URLs for your own images</li>
</ul>

<h2>Settings</h2>
<dl>
<dt><code>PANORAMA_API_KEY</code></dt><dd>Your key. Needed.</dd>
<dt><code>PANORAMA_UPLOAD_DIRS</code></dt><dd>Folders whose images the assistant may upload by their path, separated by
<code>:</code> (Windows: <code>;</code>). None unless you name them.</dd>
<dt><code>PANORAMA_BASE_URL</code></dt><dd>Another service than this one.</dd>
</dl>
<p>If npm says <code>EALLOWREMOTE</code>, its <code>allow-remote</code> setting forbids packages from a URL: set it to
<code>all</code>, or <a href="${offer.packagePath}">download the package</a> and give npx the file's path.</p></div>`,
    }),
});
