/** The release of the MCP server and its package (specification, Versioning). */
export const MCP_VERSION = "0.1.0";
