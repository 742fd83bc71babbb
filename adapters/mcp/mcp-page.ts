import { MCP_PACKAGE_PATH, mcpServersJson, serverEntry } from "./mcp-configuration.js";

/** The page at `/mcp`: what to paste where. A whole HTML document without scripts. `origin`: the service's public one. */
export const mcpPage = (origin: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Panoramas in your assistant (MCP)</title>
<style>
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark; }
  pre { overflow-x: auto; padding: 1rem; border: 1px solid; border-radius: .5rem; }
  code { font-size: .9em; }
</style>
</head>
<body>
<h1>Panoramas in your assistant</h1>
<p>A local MCP server lets an assistant make 360° panoramas with your credits. It runs on your own machine and needs
<a href="https://nodejs.org/">Node.js 20</a> or later. Downloading it is free.</p>
<ol>
<li>Make an API key on <a href="/account">your account's page</a>. It needs one paid order.</li>
<li>Paste the configuration of your client from below, with your key in the place of <code>sk-...</code>.
The key stays in that file: never type it into a chat.</li>
<li>Restart the client, and ask for a panorama.</li>
</ol>

<h2>Claude Desktop, Cursor, Windsurf, Cline and most other clients</h2>
<p>Claude Desktop: Settings, Developer, Edit Config (<code>claude_desktop_config.json</code>). Cursor: <code>~/.cursor/mcp.json</code>.
Windsurf: <code>~/.codeium/windsurf/mcp_config.json</code>.</p>
<pre><code>${escaped(mcpServersJson(origin, "npx"))}</code></pre>

<h2>The same on Windows</h2>
<pre><code>${escaped(mcpServersJson(origin, "npx.cmd"))}</code></pre>

<h2>VS Code</h2>
<p><code>.vscode/mcp.json</code>; on Windows with <code>npx.cmd</code>:</p>
<pre><code>${escaped(JSON.stringify({ servers: { panorama: { type: "stdio", ...serverEntry(origin, "npx") } } }, undefined, 2))}</code></pre>

<h2>Claude Code</h2>
<pre><code>${escaped(`claude mcp add panorama --env PANORAMA_API_KEY=sk-... -- npx -y ${origin}${MCP_PACKAGE_PATH}`)}</code></pre>

<h2>What it can do</h2>
<ul>
<li><code>generate_panorama_from_text</code> and <code>generate_panorama_from_images</code>: a panorama for 4 (1k), 6 (2k) or 10 (4k) credits</li>
<li><code>get_panorama_task</code>: how it goes, and the links to the image and the viewer</li>
<li><code>get_credit_balance</code>: what is left</li>
<li><code>upload_reference_images</code>: public URLs for your own images</li>
</ul>

<h2>Settings</h2>
<dl>
<dt><code>PANORAMA_API_KEY</code></dt><dd>Your key. Needed.</dd>
<dt><code>PANORAMA_UPLOAD_DIRS</code></dt><dd>Folders whose images the assistant may upload by their path, separated by
<code>:</code> (Windows: <code>;</code>). None unless you name them.</dd>
<dt><code>PANORAMA_BASE_URL</code></dt><dd>Another service than ${escaped(origin)}.</dd>
</dl>
<p>If npm says <code>EALLOWREMOTE</code>, its <code>allow-remote</code> setting forbids packages from a URL: set it to <code>all</code>,
or <a href="${MCP_PACKAGE_PATH}">download the package</a> and give npx the file's path.</p>
</body>
</html>
`;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
