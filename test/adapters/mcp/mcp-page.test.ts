import { describe, expect, it } from "vitest";
import { mcpPage } from "../../../adapters/mcp/mcp-page.js";

const snippetsOf = (page: string): readonly string[] =>
  [...page.matchAll(/<pre><code>([^<]*)<\/code><\/pre>/g)].map(([, code]) =>
    (code ?? "").replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
  );

describe("the page at /mcp", () => {
  const page = mcpPage("https://panorama.test");

  it("shows configurations to paste, for npx and for npx.cmd", () => {
    const [unix, windows, vscode] = snippetsOf(page).map((snippet) => snippet.startsWith("{") && JSON.parse(snippet));
    const entry = {
      command: "npx",
      args: ["-y", "https://panorama.test/mcp/panorama-mcp-0.1.0.tgz"],
      env: { PANORAMA_API_KEY: "sk-..." },
    };
    expect(unix).toEqual({ mcpServers: { panorama: entry } });
    expect(windows).toEqual({ mcpServers: { panorama: { ...entry, command: "npx.cmd" } } });
    expect(vscode).toEqual({ servers: { panorama: { type: "stdio", ...entry } } });
  });

  it("needs no script, and cannot be broken out of by its origin", () => {
    expect(page).not.toContain("<script");
    expect(mcpPage('https://a.test/"><script>')).not.toContain("<script");
  });
});
