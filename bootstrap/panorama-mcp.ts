import { readFileSync } from "node:fs";
import { runMcp } from "./run-mcp.js";

/** The bin of the package that the service serves: beside it lies where it was downloaded from. */
const service: { base_url: string } = JSON.parse(readFileSync(new URL("./service.json", import.meta.url), "utf8"));

await runMcp(process.env, service.base_url);
