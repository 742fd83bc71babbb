import { readFileSync } from "node:fs";
import { runMcp } from "./run-mcp.js";

/** The MCP server of the npm package that the service serves. service.json holds the origin of that service. */
const service: { base_url: string } = JSON.parse(readFileSync(new URL("./service.json", import.meta.url), "utf8"));

await runMcp(process.env, service.base_url);
