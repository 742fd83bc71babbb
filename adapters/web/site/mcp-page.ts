import type { Prices } from "../../../domain/images/resolution.js";
import type { Page } from "../../web-page/page.js";
import { html } from "../html.js";
import type { Layout } from "../layout.js";
import { entryPath } from "../paths.js";
import type { SessionGuard } from "../session-guard.js";
import { pricesText } from "../texts.js";

/** The configurations to paste into MCP clients, and the path of the package. */
export type McpOffer = {
  readonly npx: string;
  readonly npxOnWindows: string;
  readonly vsCode: string;
  readonly claudeCode: string;
  readonly packagePath: string;
};

/** `GET /mcp`: how to add the MCP server to an assistant. */
export const mcpPage = (offer: McpOffer, guard: SessionGuard, layout: Layout, prices: Prices): Page => ({
  method: "GET",
  path: "/mcp",
  body: "none",
  handle: async (request) => {
    const visitor = await guard.visitor(request);
    const keys = entryPath("/account/keys", visitor !== undefined, layout.hasSignUp);
    return layout.reply(200, {
      title: "Panoramas in your assistant",
      description: "A local MCP server with which assistants such as Claude make 360° panoramas with your credits.",
      visitor,
      main: html`<div class="page prose"><h1>Panoramas in your assistant</h1>
<p class="lead">With a local MCP server, an assistant can generate 360° panoramas with your credits. The server runs on your
own machine and needs Node.js 20 or later. The download is free.</p>
<ol>
<li>Create an API key on <a href="${keys}">your account page</a>. You need one paid order for this.</li>
<li>Copy the configuration for your client from below and replace <code>sk-...</code> with your key.
Keep the key in that file: never type it into a chat.</li>
<li>Restart the client and ask for a panorama.</li>
</ol>

<h2>Claude Desktop, Cursor, Windsurf, Cline and most other clients</h2>
<p>Claude Desktop: Settings, Developer, Edit Config (<code>claude_desktop_config.json</code>). Cursor:
<code>~/.cursor/mcp.json</code>. Windsurf: <code>~/.codeium/windsurf/mcp_config.json</code>.</p>
<pre tabindex="0"><code>${offer.npx}</code></pre>

<h2>The same clients on Windows</h2>
<pre tabindex="0"><code>${offer.npxOnWindows}</code></pre>

<h2>VS Code</h2>
<p>File: <code>.vscode/mcp.json</code>. On Windows, use <code>npx.cmd</code>.</p>
<pre tabindex="0"><code>${offer.vsCode}</code></pre>

<h2>Claude Code</h2>
<pre tabindex="0"><code>${offer.claudeCode}</code></pre>

<h2>Tools</h2>
<ul>
<li><code>generate_panorama_from_text</code> and <code>generate_panorama_from_images</code>: generate a panorama for
${pricesText(prices)}</li>
<li><code>get_panorama_task</code>: returns the progress, and the links to the image and the viewer</li>
<li><code>get_credit_balance</code>: returns the remaining credits</li>
<li><code>upload_reference_images</code>: returns public URLs for your own images</li>
</ul>
<p>Your latest panoramas are the resource <code>panorama://recent</code>, so an assistant can look before it pays
twice.</p>

<h2>Your own images</h2>
<p>An attachment of a chat never reaches this server. Create the folder <code>Pictures/panorama</code> in your home folder
and put the images there. By putting an image into this folder you agree that the assistant may upload it: everybody who
has its URL can open it then. The server reads no other file of your computer. An assistant can also upload an image by
its <code>https://</code> URL, except from your own network.</p>

<h2>Settings</h2>
<dl>
<dt><code>PANORAMA_API_KEY</code></dt><dd>Your API key. Required.</dd>
<dt><code>PANORAMA_UPLOAD_DIRS</code></dt><dd>The folders from which the assistant may upload images, separated by
<code>:</code> (Windows: <code>;</code>); <code>~</code> is your home folder. Default: <code>Pictures/panorama</code> in your home folder. With an empty value,
none.</dd>
<dt><code>PANORAMA_BASE_URL</code></dt><dd>The base URL of the service. Default: this service.</dd>
<dt><code>PANORAMA_STATE_DIR</code></dt><dd>The folder for keys of creations whose answer was lost, so that they can be
continued after a restart. Default: <code>panorama</code> in <code>~/.local/state</code> (Windows:
<code>%LOCALAPPDATA%</code>).</dd>
<dt><code>HTTPS_PROXY</code>, <code>NO_PROXY</code></dt><dd>The proxy of your network, and the hosts that need none. Images
given by URL are downloaded through it too. Addresses that are private here are refused; beyond this, the proxy decides
which hosts can be reached.</dd>
</dl>
<p>If npm reports <code>EALLOWREMOTE</code>, its <code>allow-remote</code> setting forbids packages from a URL. Set it to
<code>all</code>, or <a href="${offer.packagePath}">download the package</a> and give npx the path of the file.</p></div>`,
    });
  },
});
