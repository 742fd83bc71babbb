import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { CallToolResult, Progress } from "@modelcontextprotocol/sdk/types.js";

/** The official SDK's client, which checks every structured answer against the tool's own output schema. */
export class McpSession {
  readonly client = new Client({ name: "test", version: "1.0.0" });

  static async over(transport: Transport): Promise<McpSession> {
    const session = new McpSession();
    await session.client.connect(transport);
    await session.client.listTools(); // the client compiles the output schemas from it
    return session;
  }

  async call(
    name: string,
    args: Record<string, unknown> = {},
    options: { onprogress?: (progress: Progress) => void; signal?: AbortSignal } = {},
  ): Promise<CallToolResult> {
    return (await this.client.callTool({ name, arguments: args }, undefined, options)) as CallToolResult;
  }

  /** The error that a call ended with, or `undefined` for a call that went well. */
  async error(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown> | undefined> {
    const result = await this.call(name, args);
    if (!result.isError) return undefined;
    return JSON.parse(textsOf(result)[0] ?? "").error;
  }
}

export const textsOf = ({ content }: CallToolResult): readonly string[] =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : []));
