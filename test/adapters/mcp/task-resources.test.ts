import { describe, expect, it } from "vitest";
import { GENERATIONS } from "../../support/mcp-session.js";
import { aHarbour, setUpMcp } from "./mcp-setup.js";

describe.each(GENERATIONS)("the resources of the MCP server for a client of %s", (revision) => {
  const on = setUpMcp(revision);
  const read = async (uri: string) => {
    const [content] = (await on.session.client.readResource({ uri })).contents;
    expect(content).toMatchObject({ uri, mimeType: "application/json" });
    return JSON.parse(String((content as { text: string }).text));
  };

  it("list the latest panoramas, and read each by its task id", async () => {
    const { resources } = await on.session.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["panorama://recent"]);
    const { resourceTemplates } = await on.session.client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(["panorama://task/{id}"]);

    await on.session.call("generate_panorama_from_text", aHarbour);
    await on.session.call("generate_panorama_from_text", { ...aHarbour, prompt: "a lake" });

    await on.session.call("get_panorama_task", { id: "task-1", wait_seconds: 10 });
    const image = `${on.service.origin}/assets/panoramas/${"task-1".padEnd(22, "0")}.jpg`;
    const done = { id: "task-1", status: "succeeded", prompt: aHarbour.prompt, uri: "panorama://task/task-1" };
    const picture = { type: "resource_link", uri: image, mimeType: "image/jpeg" };
    expect(await read("panorama://task/task-1")).toMatchObject({ ...done, picture });
    expect((await read("panorama://recent")).panoramas).toMatchObject([
      { id: "task-2", status: "processing", prompt: "a lake" },
      { ...done, picture },
    ]);
    expect(on.post()).toHaveLength(2); // reading is free
  });

  it("contain an instruction for a failed panorama", async () => {
    await on.session.call("generate_panorama_from_text", { ...aHarbour, prompt: "a storm test:fail" });
    await on.session.call("get_panorama_task", { id: "task-1", wait_seconds: 10 });
    expect(await read("panorama://task/task-1")).toMatchObject({
      status: "failed",
      error: { what_to_do: expect.stringContaining("once more") },
    });
  });

  it.each([
    "panorama://task/unknown",
    "panorama://task/",
    "panorama://task/%E0",
    "panorama://task/\ud800",
    "panorama://other",
    "file:///etc/passwd",
    "",
  ])("return a protocol error for an unknown URI: %j", async (uri) => {
    await expect(on.session.client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
  });

  it("contain a question for the person if the key is wrong", async () => {
    const wrong = await on.sessionWith("sk-wrongwrongwrongwrongwrongwrongwrongwrongwro");
    await expect(wrong.client.readResource({ uri: "panorama://recent" })).rejects.toThrow(
      /Ask the person to create a valid key/,
    );
    await wrong.client.close();
  });
});
