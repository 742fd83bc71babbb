import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { beforeEach, describe, expect, it } from "vitest";
import { aHarbour, setUpMcp } from "./mcp-setup.js";

const EXTENSION = "io.modelcontextprotocol/tasks";
type Reply = {
  readonly id?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string };
};

/** The SDK has no client for the extension, so these tests write its messages. */
describe("the tasks extension of the MCP server", () => {
  const on = setUpMcp("2026-07-28");
  let request: (method: string, params: object, extensions?: object) => Promise<Reply>;

  beforeEach(async () => {
    const transport = on.connect(on.service.apiKey);
    const waiting = new Map<unknown, (reply: Reply) => void>();
    transport.onmessage = (message) => waiting.get((message as Reply).id)?.(message as Reply);
    await transport.start();
    let ids = 0;
    request = (method, params, extensions = { [EXTENSION]: {} }) =>
      new Promise((resolve) => {
        const id = ++ids;
        waiting.set(id, resolve);
        const _meta = {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
          "io.modelcontextprotocol/clientCapabilities": { extensions },
        };
        void transport.send({ jsonrpc: "2.0", id, method, params: { ...params, _meta } } as JSONRPCMessage);
      });
  });

  const generate = async (prompt = aHarbour.prompt, extensions?: object) => {
    const params = { name: "generate_panorama_from_text", arguments: { ...aHarbour, prompt } };
    return (await request("tools/call", params, extensions)).result;
  };
  const get = async (taskId: unknown) => (await request("tasks/get", { taskId })).result;

  it("answers with a task, whose result equals the tool's answer", async () => {
    const discovered = (await request("server/discover", {})).result;
    expect(discovered).toMatchObject({
      supportedVersions: ["2026-07-28"],
      capabilities: { extensions: { [EXTENSION]: {} } },
      cacheScope: "private",
    });
    on.service.readsWhileProcessing = 2;
    expect(await generate()).toMatchObject({
      resultType: "task",
      taskId: "task-1",
      status: "working",
      ttlMs: null,
      pollIntervalMs: 3000,
      createdAt: expect.any(String),
    });
    expect(await get("task-1")).toMatchObject({ resultType: "complete", status: "working" });
    const ended = await get("task-1");
    const viewer_url = `${on.service.origin}/works/slug-task-1`;
    expect(ended).toMatchObject({
      status: "completed",
      result: {
        structuredContent: {
          id: "task-1",
          status: "succeeded",
          credits_charged: 4,
          output: { viewer_url },
          message: expect.stringContaining(`Viewer: ${viewer_url}\n`),
        },
      },
    });
    const { content, structuredContent } = (
      ended as { result: { content: [{ text: string }]; structuredContent: object } }
    ).result;
    expect(content).toEqual([{ type: "text", text: JSON.stringify(structuredContent) }]);
    expect(on.post()).toHaveLength(1);
  });

  it("needs the client's declaration in the request", async () => {
    expect(await generate(aHarbour.prompt, {})).toMatchObject({
      resultType: "complete",
      structuredContent: { id: "task-1", status: "processing" },
    });
  });

  it("completes a failed generation with an instructive error", async () => {
    await generate("a storm test:fail");
    const ended = await get("task-1");
    expect(ended).toMatchObject({ status: "completed", result: { isError: true } });
    const { content } = (ended as { result: { content: [{ text: string }] } }).result;
    expect(JSON.parse(content[0].text).error).toMatchObject({
      code: "generation_failed",
      what_to_do: expect.any(String),
    });
  });

  it("tasks/cancel sets the status cancelled", async () => {
    await generate();
    expect((await request("tasks/cancel", { taskId: "task-1" })).result).toMatchObject({ resultType: "complete" });
    expect(on.service.requests("POST", "/panoramas/task-1/cancel")).toHaveLength(1);
    const error = { code: "generation_failed", reason: "canceled", message: "The panorama was canceled." };
    const body = JSON.stringify({ id: "task-1", status: "failed", credits_charged: 4, error });
    on.service.failNext("GET", "/panoramas/task-1", { kind: "answer", status: 200, body });
    expect(await get("task-1")).toMatchObject({ status: "cancelled" });
  });

  it.each([
    [10, 2_500],
    [1, 1_000],
    [600, 10_000],
  ])("asks to poll after a quarter of the measured time: %d s left", async (estimated_seconds, pollIntervalMs) => {
    const body = JSON.stringify({ id: "task-1", status: "processing", credits_charged: 4, estimated_seconds });
    on.service.failNext("GET", "/panoramas/task-1", { kind: "answer", status: 200, body });
    expect(await generate()).toMatchObject({ pollIntervalMs });
  });

  it.each([{ taskId: "unknown" }, { taskId: "" }, { taskId: 7 }, {}])("refuses %j", async (params) => {
    expect((await request("tasks/get", params)).error).toMatchObject({ code: -32602 });
    expect((await request("tasks/update", params)).error).toMatchObject({ code: -32602 });
  });
});
