import type { Visitor } from "../../../application/accounts/sessions.js";
import type { Prices } from "../../../domain/images/resolution.js";
import type { Page } from "../../web-page/page.js";
import { newKeyOf } from "../account/key-pages.js";
import { type Html, html } from "../html.js";
import { hiddenToken, type Layout } from "../layout.js";
import { entryPath, MCP_PATH } from "../paths.js";
import type { SessionGuard } from "../session-guard.js";
import { pricesText } from "../texts.js";

/** The configurations to paste into MCP clients, and the path of the package. */
export type McpOffer = {
  readonly npx: string;
  readonly npxOnWindows: string;
  readonly vsCode: string;
  readonly claudeCode: string;
  readonly keyPlaceholder: string;
  readonly packagePath: string;
};

/** `GET /mcp`: how to add the MCP server to an assistant. */
export const mcpPage = (offer: McpOffer, guard: SessionGuard, layout: Layout, prices: Prices): Page => ({
  method: "GET",
  path: MCP_PATH,
  body: "none",
  handle: async (request) => {
    const visitor = await guard.visitor(request);
    const note = visitor && guard.takeNote(MCP_PATH, request, visitor);
    const secret = note && newKeyOf(note.text).secret;
    const page = {
      title: "Panoramas in your assistant",
      description: "A local MCP server with which assistants such as Claude make 360° panoramas with your credits.",
      visitor,
      place: "/mcp" as const,
      main: html`<div class="page prose"><h1>Panoramas in your assistant</h1>
<p class="lead">With a local MCP server, an assistant can generate 360° panoramas with your credits. The server runs on your
own machine and needs Node.js 20 or later. The download is free.</p>
<ol>
<li>${keyStep(visitor, secret, layout.hasSignUp)}</li>
<li>Open your client below and copy its configuration${secret === undefined && html`; replace <code>${offer.keyPlaceholder}</code> with your key`}.
Keep the key in that file: never type it into a chat.</li>
<li>Restart the client and try: <q>How many credits do I have?</q></li>
</ol>

<h2 id="configuration">Configuration</h2>
${clientsOf(offer).map(
  ({ name, file, text }, index) => html`<details name="client"${index === 0 && html` open`}><summary>${name}</summary>
<p>${file}</p>
<div class="code"><pre tabindex="0" aria-label="${name}"><code>${secret === undefined ? text : text.replace(offer.keyPlaceholder, secret)}</code></pre></div></details>
`,
)}

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
      scripts: ["docs.js"],
      styles: ["docs.css"],
    };
    return layout.reply(200, page, note?.headers);
  },
});

/** How the reader gets a key. A stored key is never shown: the new one comes in a note, and is shown once. */
function keyStep(visitor: Visitor | undefined, secret: string | undefined, hasSignUp: boolean): Html {
  if (secret !== undefined)
    return html`<strong role="status">The configurations below have your new API key. It is shown this once.</strong>`;
  if (visitor === undefined)
    return html`Create an API key on <a href="${entryPath("/account/keys", false, hasSignUp)}">your account page</a>. You need one paid order for this.`;
  return html`<form method="post" action="/account/keys" class="cluster inline">${hiddenToken(visitor.formToken)}<input type="hidden" name="name" value="MCP"><input type="hidden" name="shown_on" value="${MCP_PATH}">
<button class="button small">Create an API key</button> for the configurations below. You need one paid order for this, and find your keys in <a href="/account/keys">your account</a>.</form>`;
}

/** `file`: where the configuration belongs. */
const clientsOf = ({ npx, npxOnWindows, vsCode, claudeCode }: McpOffer) => [
  {
    name: "Claude Desktop",
    file: html`Settings, Developer, Edit Config: <code>claude_desktop_config.json</code>`,
    text: npx,
  },
  {
    name: "Cursor, Windsurf, Cline and others",
    file: html`Cursor: <code>~/.cursor/mcp.json</code>. Windsurf: <code>~/.codeium/windsurf/mcp_config.json</code>`,
    text: npx,
  },
  { name: "The same on Windows", file: html`The same files, with <code>npx.cmd</code>`, text: npxOnWindows },
  { name: "VS Code", file: html`<code>.vscode/mcp.json</code>. On Windows, use <code>npx.cmd</code>`, text: vsCode },
  { name: "Claude Code", file: html`In a terminal`, text: claudeCode },
];
