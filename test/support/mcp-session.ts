import { Client as NewClient } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { CallToolResult, JSONRPCMessage, Progress } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "vitest";

/** The revisions of the protocol whose clients the MCP server serves, of both generations. */
export const REVISIONS = ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"] as const;
/** The newest of each generation. */
export const GENERATIONS = ["2025-11-25", "2026-07-28"] as const;
export type Revision = (typeof REVISIONS)[number];

type CallOptions = { onprogress?: (progress: Progress) => void; signal?: AbortSignal };

/** A client of an official SDK. It validates every structured answer against the output schema of the tool. */
export class McpSession {
  readonly client: Client;
  readonly revision: Revision;
  /** All messages that the client has received. */
  readonly received: JSONRPCMessage[] = [];

  private constructor(client: Client, revision: Revision) {
    this.client = client;
    this.revision = revision;
  }

  /** @param capabilities what the client declares, as of 2026-07-28 with each request */
  static async over(transport: Transport, revision: Revision = "2025-11-25", capabilities = {}): Promise<McpSession> {
    const info = { name: "test", version: "1.0.0" };
    const versionNegotiation = { mode: { pin: "2026-07-28" } } as const;
    const client =
      revision === "2026-07-28"
        ? (new NewClient(info, { versionNegotiation, capabilities }) as unknown as Client)
        : new Client(info, { capabilities });
    const session = new McpSession(client, revision);
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      // The old client offers its newest revision; the older ones are the same client.
      if ("method" in message && message.method === "initialize")
        Object.assign(message.params ?? {}, { protocolVersion: revision });
      return send(message, options);
    };
    await client.connect(transport);
    const receive = transport.onmessage;
    transport.onmessage = (message, extra) => {
      session.received.push(message);
      receive?.(message, extra);
    };
    await client.listTools(); // this makes the client compile the output schemas
    return session;
  }

  /** Whatever the tool answers, it is one block of text, and the structured content is the same unless it refuses. */
  async call(name: string, args: Record<string, unknown> = {}, options: CallOptions = {}): Promise<CallToolResult> {
    const params = { name, arguments: args };
    const called =
      this.revision === "2026-07-28"
        ? (this.client as unknown as NewClient).callTool(params, options)
        : this.client.callTool(params, undefined, options);
    const result = (await called) as CallToolResult;
    expect(result.content).toEqual([{ type: "text", text: expect.any(String) }]);
    const { error, ...answer } = JSON.parse(textOf(result));
    if (result.isError) expect([error, result.structuredContent]).toEqual([expect.any(Object), undefined]);
    else expect(result.structuredContent).toEqual({ ...answer, ...(error && { error }), message: expect.any(String) });
    return result;
  }

  /** Returns the error of a call; `undefined` if the call succeeded. */
  async error(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown> | undefined> {
    const result = await this.call(name, args);
    if (!result.isError) return undefined;
    return JSON.parse(textOf(result)).error;
  }
}

/** The text of a result, which has nothing else. */
export const textOf = ({ content: [block] }: CallToolResult): string => (block?.type === "text" ? block.text : "");

/** What the result says to the person. */
export const messageOf = ({ structuredContent }: CallToolResult): string => String(structuredContent?.message);
