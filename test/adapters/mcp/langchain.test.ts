import { loadMcpTools } from "@langchain/mcp-adapters";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { describe, expect, it } from "vitest";
import { base64, pngBytes } from "../../support/image-bytes.js";
import { aHarbour, setUpMcp } from "./mcp-setup.js";

/** The adapter throws in the tool call at a second block, a link or an image; the models' packages do later. */
describe("the tools of the MCP server in LangChain", () => {
  const on = setUpMcp();

  /** What the model gets as the content of the tool's message. */
  const called = async (client: Client, name: string, args: object): Promise<unknown> => {
    const tool = (await loadMcpTools("panorama", client)).find((loaded) => loaded.name === name);
    const { content } = await (tool as NonNullable<typeof tool>).invoke({
      type: "tool_call",
      id: "call-1",
      name,
      args,
    });
    // This adapter puts the structured content beside the only text.
    const { type, text, structuredContent, ...others } = JSON.parse(content);
    expect([type, JSON.parse(text), others]).toEqual(["text", structuredContent, {}]);
    return structuredContent;
  };

  it("answer one JSON text, with which the model finds its panorama", async () => {
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(on.connect(on.service.apiKey));
    const created = await called(client, "generate_panorama_from_text", aHarbour);
    expect(created).toMatchObject({ id: "task-1", status: "processing", message: expect.stringContaining("task-1") });
    const read = { id: "task-1", wait_seconds: 10 };
    expect(await called(client, "get_panorama_task", read)).toMatchObject({
      status: "succeeded",
      output: { viewer_url: `${on.service.origin}/works/slug-task-1` },
    });
    expect(await called(client, "get_credit_balance", {})).toMatchObject({ remaining_credits: 96 });
    const images = [{ data: base64(pngBytes(100)) }];
    expect(await called(client, "upload_reference_images", { images })).toMatchObject({
      image_urls: [expect.any(String)],
    });
    const refusal = called(client, "generate_panorama_from_text", { ...aHarbour, max_credits: 0 });
    await expect(refusal).rejects.toThrow('"code":"budget_exceeded"');
    expect(on.service.tasks).toHaveLength(1);
    await client.close();
  });
});
