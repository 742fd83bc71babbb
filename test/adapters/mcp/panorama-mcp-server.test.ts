import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { base64, pngBytes } from "../../support/image-bytes.js";
import { messageOf, REVISIONS } from "../../support/mcp-session.js";
import { aHarbour, setUpMcp } from "./mcp-setup.js";

describe.each(REVISIONS)("with a client of %s:", (revision) => {
  const on = setUpMcp(revision);

  describe("the MCP tools", () => {
    it("match the five of the specification, with schemas and hints", async () => {
      const { tools } = await on.session.client.listTools();
      const hints = (name: string) => tools.find((tool) => tool.name === name)?.annotations;
      expect(tools.map(({ name }) => name)).toEqual([
        "generate_panorama_from_text",
        "generate_panorama_from_images",
        "get_panorama_task",
        "get_credit_balance",
        "upload_reference_images",
      ]);
      for (const { description, inputSchema, outputSchema } of tools) {
        expect(description).toBeTruthy();
        expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
        expect(outputSchema?.type).toBe("object");
        for (const parameter of Object.values(inputSchema.properties ?? {})) {
          expect((parameter as { description?: string }).description).toBeTruthy();
        }
      }
      expect(hints("generate_panorama_from_text")).toMatchObject({ readOnlyHint: false, idempotentHint: false });
      expect(hints("get_panorama_task")).toMatchObject({ readOnlyHint: true });
      expect(hints("get_credit_balance")).toMatchObject({ readOnlyHint: true });
      expect(hints("upload_reference_images")).toMatchObject({ readOnlyHint: false, idempotentHint: true });
    });

    it("generate a panorama from text and return its links", async () => {
      const created = await on.session.call("generate_panorama_from_text", aHarbour);
      const known = { id: "task-1", status: "processing", credits_charged: 4 };
      expect(created.structuredContent).toEqual({
        ...known,
        message: expect.stringMatching(/^Task task-1 was accepted: .* Next: call get_panorama_task /),
      });

      const processing = await on.session.call("get_panorama_task", { id: "task-1" });
      const message = expect.stringMatching(/^Task task-1 is still processing\. /);
      expect(processing.structuredContent).toEqual({ ...known, message });

      const done = await on.session.call("get_panorama_task", { id: "task-1" });
      // The members of release 0.1.0, although the service answers with more.
      const viewer_url = `${on.service.origin}/works/slug-task-1`;
      expect(done.structuredContent).toEqual({
        id: "task-1",
        status: "succeeded",
        credits_charged: 4,
        output: {
          image_url: expect.stringMatching(/^http.*\.jpg$/),
          slug: "slug-task-1",
          viewer_url,
          storage_status: "saved",
        },
        message: expect.stringContaining(`Viewer: ${viewer_url}\n`),
      });
    });

    it("generate a panorama from uploaded images, and read the balance", async () => {
      const images = [base64(pngBytes(100)), { data: base64(pngBytes(200)), name: "b.png", type: "image/png" }];
      const uploaded = await on.session.call("upload_reference_images", { images });
      const { image_urls, expires_at } = uploaded.structuredContent as { image_urls: string[]; expires_at: string };
      expect(expires_at).toBe(on.service.uploadsExpireAt);
      expect(messageOf(uploaded)).toContain(`Unused, they are kept until ${expires_at}.`);
      expect(image_urls).toHaveLength(2);
      const created = await on.session.call("generate_panorama_from_images", { image_urls, resolution: "2k" });
      expect(created.structuredContent).toMatchObject({ credits_charged: 6 });
      expect(JSON.parse(String(on.service.requests("POST", "/panoramas")[0]?.body))).toEqual({
        image_urls,
        resolution: "2k",
        visibility: "private",
      });
      expect((await on.session.call("get_credit_balance")).structuredContent).toEqual({
        remaining_credits: 94,
        message: "The account has 94 credits left.",
      });
    });

    it("return a failed generation as a task, not as a tool error", async () => {
      await on.session.call("generate_panorama_from_text", { ...aHarbour, prompt: "a storm test:fail" });
      const failed = await on.session.call("get_panorama_task", { id: "task-1", wait_seconds: 10 });
      expect(failed.isError).toBeFalsy();
      expect(failed.structuredContent).toMatchObject({ status: "failed", error: { code: "generation_failed" } });
    });

    it("return the place in the queue and the remaining time of a task", async () => {
      await on.session.call("generate_panorama_from_text", aHarbour);
      const known = {
        id: "task-1",
        status: "processing",
        credits_charged: 4,
        queue_position: 3,
        estimated_seconds: 50,
      };
      on.service.failNext("GET", "/panoramas/task-1", { kind: "answer", status: 200, body: JSON.stringify(known) });
      const waiting = await on.session.call("get_panorama_task", { id: "task-1" });
      expect(waiting.structuredContent).toMatchObject(known);
      expect(messageOf(waiting)).toContain(
        "Task task-1 is still processing, behind 3 tasks in the queue, about 50 s left. Call get_panorama_task",
      );
    });

    it("wait for a task at most wait_seconds, and report increasing progress", async () => {
      on.service.readsWhileProcessing = 1000;
      await on.session.call("generate_panorama_from_text", aHarbour);
      const seen: Progress[] = [];
      const waited = await on.session.call(
        "get_panorama_task",
        { id: "task-1", wait_seconds: 10 },
        { onprogress: (progress) => seen.push(progress) },
      );
      expect(waited.structuredContent).toMatchObject({ status: "processing" });
      expect(seen.map(({ progress }) => progress)).toEqual([0, 2.25, 4.5, 6.75, 9]); // nothing twice within a second
      expect(seen.every(({ total }) => total === 10)).toBe(true);
    });
  });

  describe("max_credits of the MCP tools", () => {
    it("below the price gives budget_exceeded and sends nothing", async () => {
      expect(await on.session.error("generate_panorama_from_text", { ...aHarbour, max_credits: 0 })).toMatchObject({
        code: "budget_exceeded",
      });
      const image_urls = ["https://images.test/a.jpg"];
      expect(
        await on.session.error("generate_panorama_from_images", { image_urls, resolution: "4k", max_credits: 9 }),
      ).toMatchObject({ code: "budget_exceeded" });
      expect(on.sent()).toHaveLength(0);
    });

    it("equal to the price is accepted", async () => {
      expect(await on.session.error("generate_panorama_from_text", { ...aHarbour, max_credits: 4 })).toBeUndefined();
      expect(on.service.tasks).toHaveLength(1);
    });
  });

  describe("a call that the MCP server cannot serve", () => {
    it("is a protocol error for an unknown tool", async () => {
      await expect(on.session.call("delete_everything")).rejects.toThrow("no such tool");
    });
  });
});
