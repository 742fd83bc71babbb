import { tokens } from "../tokens.js";
import type { Command } from "./command.js";

export const mcp: Command = {
  words: "mcp",
  usage: "",
  options: {},
  required: [],
  run: async (service) => {
    const { publicUrl } = await service.get(tokens.config);
    process.env.PANORAMA_BASE_URL ||= publicUrl;
    // The same file that npx downloads: it is complete in itself, and ends the process when stdin ends.
    await import(new URL("../../mcp/panorama-mcp.js", import.meta.url).href);
    throw new Error("The MCP server ended without ending the process.");
  },
};
