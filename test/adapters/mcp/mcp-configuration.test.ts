import { expect, it } from "vitest";
import { mcpConfigurations } from "../../../adapters/mcp/mcp-configuration.js";

it("mcpConfigurations returns the text to paste for each client, with npx and with npx.cmd", () => {
  const { npx, npxOnWindows, vsCode, claudeCode } = mcpConfigurations("https://panorama.test");
  const entry = {
    command: "npx",
    args: ["-y", "https://panorama.test/mcp/panorama-mcp-0.1.0.tgz"],
    env: { PANORAMA_API_KEY: "sk-..." },
  };
  expect(JSON.parse(npx)).toEqual({ mcpServers: { panorama: entry } });
  expect(JSON.parse(npxOnWindows)).toEqual({ mcpServers: { panorama: { ...entry, command: "npx.cmd" } } });
  expect(JSON.parse(vsCode)).toEqual({ servers: { panorama: { type: "stdio", ...entry } } });
  expect(claudeCode).toBe(`claude mcp add panorama --env PANORAMA_API_KEY=sk-... -- npx -y ${entry.args[1]}`);
});
