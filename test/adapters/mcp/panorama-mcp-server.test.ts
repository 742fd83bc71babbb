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

  describe("invalid arguments of an MCP tool", () => {
    const anImage = base64(pngBytes(20));
    const broken: readonly [tool: string, what: string, args: Record<string, unknown>, message: RegExp][] = [
      [
        "generate_panorama_from_text",
        "a prompt of 2 characters",
        { prompt: "ab", resolution: "1k" },
        /^prompt: .*3 characters/,
      ],
      [
        "generate_panorama_from_text",
        "an unknown resolution",
        { prompt: "a harbour", resolution: "8k" },
        /^resolution: /,
      ],
      ["generate_panorama_from_text", "a missing resolution", { prompt: "a harbour" }, /^resolution: /],
      ["generate_panorama_from_text", "an unknown visibility", { ...aHarbour, visibility: "secret" }, /^visibility: /],
      ["generate_panorama_from_text", "negative max_credits", { ...aHarbour, max_credits: -1 }, /^max_credits: /],
      ["generate_panorama_from_text", "an unknown argument", { ...aHarbour, seed: 7 }, /seed/],
      [
        "generate_panorama_from_images",
        "an empty list of image URLs",
        { image_urls: [], resolution: "1k" },
        /^image_urls: /,
      ],
      [
        "generate_panorama_from_images",
        "four image URLs",
        { image_urls: Array(4).fill("https://a.test/"), resolution: "1k" },
        /at most 3/,
      ],
      [
        "generate_panorama_from_images",
        "an http URL",
        { image_urls: ["http://a.test/"], resolution: "1k" },
        /https:\/\//,
      ],
      [
        "generate_panorama_from_images",
        "a data: URL",
        { image_urls: [`data:image/png;base64,${anImage}`], resolution: "1k" },
        /https/,
      ],
      ["get_panorama_task", "an id that no URL can have", { id: "\ud800" }, /^id: /],
      ["get_panorama_task", "an empty id", { id: "" }, /^id: /],
      ["get_panorama_task", "wait_seconds above 30", { id: "task-1", wait_seconds: 46 }, /^wait_seconds: /],
      ["upload_reference_images", "missing images and paths", {}, /1 to 5 images, but there are 0/],
      ["upload_reference_images", "an empty list of images", { images: [] }, /1 to 5 images, but there are 0/],
      ["upload_reference_images", "six images", { images: Array(6).fill(anImage) }, /1 to 5 images, but there are 6/],
      [
        "upload_reference_images",
        "six images and paths",
        { images: Array(3).fill(anImage), paths: Array(3).fill("/a.png") },
        /but there are 6/,
      ],
      [
        "upload_reference_images",
        "a data: URL",
        { images: [`data:image/png;base64,${anImage}`] },
        /^images\[0\]: is a data: URL/,
      ],
      [
        "upload_reference_images",
        "invalid base64",
        { images: [anImage, "no base64!"] },
        /^images\[1\]: is not valid base64/,
      ],
      [
        "upload_reference_images",
        "base64 of a single character",
        { images: ["A"] },
        /^images\[0\]: is not valid base64/,
      ],
      [
        "upload_reference_images",
        "a file that is no image",
        { images: [base64(new TextEncoder().encode("plain text"))] },
        /^images\[0\]: .*jpeg/,
      ],
      [
        "upload_reference_images",
        "an image that is not of its declared type",
        { images: [{ data: anImage, type: "image/jpeg" }] },
        /^images\[0\]: is declared as/,
      ],
      [
        "upload_reference_images",
        "an image of 11 MiB",
        { images: [base64(pngBytes(11 * 1024 * 1024))] },
        /^images\[0\]: .*10 MiB/,
      ],
      [
        "upload_reference_images",
        "images of 21 MiB in total",
        { images: Array(3).fill(base64(pngBytes(7 * 1024 * 1024))) },
        /^images: .*20 MiB/,
      ],
    ];
    it.each(broken)("are refused by %s without a request to the service: %s", async (tool, _what, args, message) => {
      const error = await on.session.error(tool, args);
      expect(error).toMatchObject({ code: "invalid_request", what_to_do: expect.stringContaining("Nothing was sent") });
      expect(error?.message).toMatch(message);
      expect(on.sent()).toHaveLength(0);
    });

    it("return a protocol error for an unknown tool", async () => {
      await expect(on.session.call("delete_everything")).rejects.toThrow("no such tool");
    });
  });
});
