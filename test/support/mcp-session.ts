import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { CallToolResult, Progress } from "@modelcontextprotocol/sdk/types.js";

/** The client of the official SDK. It validates every structured answer against the output schema of the tool. */
export class McpSession {
  readonly client = new Client({ name: "test", version: "1.0.0" });

  static async over(transport: Transport): Promise<McpSession> {
    const session = new McpSession();
    await session.client.connect(transport);
    await session.client.listTools(); // this makes the client compile the output schemas
    return session;
  }

  async call(
    name: string,
    args: Record<string, unknown> = {},
    options: { onprogress?: (progress: Progress) => void; signal?: AbortSignal } = {},
  ): Promise<CallToolResult> {
    return (await this.client.callTool({ name, arguments: args }, undefined, options)) as CallToolResult;
  }

  /** Returns the error of a call; `undefined` if the call succeeded. */
  async error(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown> | undefined> {
    const result = await this.call(name, args);
    if (!result.isError) return undefined;
    return JSON.parse(textsOf(result)[0] ?? "").error;
  }
}

export const textsOf = ({ content }: CallToolResult): readonly string[] =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : []));
