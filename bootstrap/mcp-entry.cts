const { startOnNode } = require("./start-on-node.cjs");

/** The executable of the npm package that the service serves. Beside it is what bootstrap/panorama-mcp.ts becomes. */
const SERVER = "./mcp-server.js";

// Node.js 18, the first with fetch, runs the server, although the versions that are tested begin with 20.
startOnNode("panorama-mcp", "20", typeof fetch === "function", () => import(SERVER));
