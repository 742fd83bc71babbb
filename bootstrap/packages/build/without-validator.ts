import process from "node:process";

/**
 * Stands for `@modelcontextprotocol/server/_shims` in the bundle. The validator of the SDK checks the answers to
 * questions that a server asks the person. This server asks none, and without it the bundle is 150 KB smaller.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("The MCP server does not ask for input.");
  }
}

export { process };
