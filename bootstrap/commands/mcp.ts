import { tokens } from "../tokens.js";
import type { Command } from "./common/command.js";

export const mcp: Command = {
  words: "mcp",
  about:
    "Runs the MCP server on standard input and output. It needs PANORAMA_API_KEY, and PANORAMA_BASE_URL for a service elsewhere, and uses HTTPS_PROXY. It may upload files from the folders of PANORAMA_UPLOAD_DIRS, by default Pictures/panorama in the home folder, and stores the idempotency keys of unconfirmed creations in PANORAMA_STATE_DIR for 24 hours.",
  usage: "",
  options: {},
  required: [],
  example: "mcp",
  isClient: true,
  run: async (service) => {
    const { publicUrl } = await service.get(tokens.config);
    process.env.PANORAMA_BASE_URL ||= publicUrl;
    // The bundle that `npx` downloads. It has no imports outside itself, and exits the process when stdin ends.
    await import(new URL("../../mcp/mcp-server.js", import.meta.url).href);
    throw new Error("The MCP server returned without exiting the process.");
  },
};
