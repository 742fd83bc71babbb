import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { offerOf } from "../../../adapters/client/offer.js";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import { parseServiceUrl } from "../../../adapters/client/service-url.js";
import { AllowedFolders } from "../../../adapters/mcp/allowed-folders.js";
import { panoramaMcpServer } from "../../../adapters/mcp/panorama-mcp-server.js";
import { UnconfirmedCreations } from "../../../adapters/mcp/unconfirmed-creations.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";
import { FakeService, type Fault } from "../../support/fake-service.js";
import { base64, pngBytes } from "../../support/image-bytes.js";
import { McpSession, textsOf } from "../../support/mcp-session.js";
import { SkippingClock } from "../../support/skipping-clock.js";

let service: FakeService;
let session: McpSession;
let clock: SkippingClock;
let logged: string[];
let folder: string;

const sessionWith = async (apiKey: string) => {
  let keys = 0;
  const server = panoramaMcpServer({
    offer: offerOf(PANORAMA_POLICY),
    client: new PanoramaClient({ baseUrl: parseServiceUrl(service.origin)._unsafeUnwrap(), apiKey }, clock, () => 0.5),
    site: service.origin,
    folders: new AllowedFolders(join(folder, "allowed")),
    unconfirmed: new UnconfirmedCreations({
      folder: join(folder, "state"),
      scope: [service.origin, apiKey],
      newIdempotencyKey: () => `key-${++keys}`,
      clock,
      processId: 1,
      isRunning: () => true,
      warn: (line) => logged.push(line),
    }),
    log: (line) => logged.push(line),
  });
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await server.connect(serverSide);
  return McpSession.over(clientSide);
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "panorama-mcp-"));
  await mkdir(join(folder, "allowed"));
  service = await FakeService.start();
  logged = [];
  clock = new SkippingClock(() => service.hanging());
  session = await sessionWith(service.apiKey);
});
afterEach(async () => {
  await session.client.close();
  await service.stop();
  await rm(folder, { recursive: true });
});

const aHarbour = { prompt: "a quiet harbour", resolution: "1k" };
const post = () => service.requests("POST", "/");

describe("the MCP tools", () => {
  it("are the five of the specification, with input and output schemas and correct hints", async () => {
    const { tools } = await session.client.listTools();
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

  it("generate a panorama from text and return its links and its thumbnail", async () => {
    const created = await session.call("generate_panorama_from_text", aHarbour);
    expect(created.structuredContent).toEqual({ id: "task-1", status: "processing", credits_charged: 4 });
    expect(JSON.parse(textsOf(created)[0] ?? "")).toEqual(created.structuredContent);
    expect(textsOf(created)[1]).toContain("get_panorama_task");

    const processing = await session.call("get_panorama_task", { id: "task-1" });
    expect(processing.structuredContent).toEqual({ id: "task-1", status: "processing", credits_charged: 4 });

    const done = await session.call("get_panorama_task", { id: "task-1" });
    // The members of release 0.1.0, although the service answers with more.
    expect(done.structuredContent).toEqual({
      id: "task-1",
      status: "succeeded",
      credits_charged: 4,
      output: {
        image_url: expect.stringMatching(/^http.*\.jpg$/),
        slug: "slug-task-1",
        viewer_url: `${service.origin}/works/slug-task-1`,
        storage_status: "saved",
      },
    });
    expect(textsOf(done)[1]).toContain(`${service.origin}/works/slug-task-1`);
    expect(done.content.filter(({ type }) => type === "resource_link")).toHaveLength(2);
    const image = done.content.find((block) => block.type === "image");
    expect(image).toMatchObject({ mimeType: "image/webp" });
    expect(Buffer.from((image as { data: string }).data, "base64").toString("latin1")).toMatch(/^RIFF/);
  });

  it("generate a panorama from uploaded images, and read the balance", async () => {
    const images = [base64(pngBytes(100)), { data: base64(pngBytes(200)), name: "b.png", type: "image/png" }];
    const uploaded = await session.call("upload_reference_images", { images });
    const { image_urls } = uploaded.structuredContent as { image_urls: string[] };
    expect(image_urls).toHaveLength(2);
    const created = await session.call("generate_panorama_from_images", { image_urls, resolution: "2k" });
    expect(created.structuredContent).toMatchObject({ credits_charged: 6 });
    expect(JSON.parse(String(service.requests("POST", "/panoramas")[0]?.body))).toEqual({
      image_urls,
      resolution: "2k",
      visibility: "private",
    });
    expect((await session.call("get_credit_balance")).structuredContent).toEqual({ remaining_credits: 94 });
  });

  it("return a failed generation as a task, not as a tool error", async () => {
    await session.call("generate_panorama_from_text", { ...aHarbour, prompt: "a storm test:fail" });
    const failed = await session.call("get_panorama_task", { id: "task-1", wait_seconds: 10 });
    expect(failed.isError).toBeFalsy();
    expect(failed.structuredContent).toMatchObject({ status: "failed", error: { code: "generation_failed" } });
  });

  it("wait for a task at most wait_seconds, and report increasing progress", async () => {
    service.readsWhileProcessing = 1000;
    await session.call("generate_panorama_from_text", aHarbour);
    const seen: Progress[] = [];
    const waited = await session.call(
      "get_panorama_task",
      { id: "task-1", wait_seconds: 10 },
      { onprogress: (progress) => seen.push(progress) },
    );
    expect(waited.structuredContent).toMatchObject({ status: "processing" });
    expect(seen.map(({ progress }) => progress)).toEqual([0, 2.25, 4.5, 6.75, 9, 10]);
    expect(seen.every(({ total }) => total === 10)).toBe(true);
  });
});

describe("max_credits of the MCP tools", () => {
  it("below the price gives budget_exceeded and sends nothing", async () => {
    expect(await session.error("generate_panorama_from_text", { ...aHarbour, max_credits: 0 })).toMatchObject({
      code: "budget_exceeded",
    });
    const image_urls = ["https://images.test/a.jpg"];
    expect(
      await session.error("generate_panorama_from_images", { image_urls, resolution: "4k", max_credits: 9 }),
    ).toMatchObject({ code: "budget_exceeded" });
    expect(service.received).toHaveLength(0);
  });

  it("equal to the price is accepted", async () => {
    expect(await session.error("generate_panorama_from_text", { ...aHarbour, max_credits: 4 })).toBeUndefined();
    expect(service.tasks).toHaveLength(1);
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
    ["upload_reference_images", "base64 of a single character", { images: ["A"] }, /^images\[0\]: is not valid base64/],
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
    const error = await session.error(tool, args);
    expect(error).toMatchObject({ code: "invalid_request", what_to_do: expect.stringContaining("Nothing was sent") });
    expect(error?.message).toMatch(message);
    expect(service.received).toHaveLength(0);
  });

  it("are a protocol error if the tool itself is unknown", async () => {
    await expect(session.call("delete_everything")).rejects.toThrow("no such tool");
  });
});

describe("the MCP tools and a failing service", () => {
  const answer = (status: number, body: string, headers = {}): Fault => ({ kind: "answer", status, body, headers });
  const refusal = (code: string) => JSON.stringify({ error: { code, message: "what happened" } });

  it.each<[string, Fault, Record<string, unknown>]>([
    ["times out", { kind: "accept-and-hang" }, { code: "timeout", may_have_been_charged: true }],
    ["drops the connection", { kind: "accept-and-drop" }, { code: "network_error", may_have_been_charged: true }],
    ["answers 500", answer(500, refusal("internal_error")), { code: "internal_error", may_have_been_charged: true }],
    ["answers HTML", answer(200, "<html>"), { code: "unexpected_answer", may_have_been_charged: true }],
    [
      "answers rate_limited",
      answer(429, refusal("rate_limited"), { "retry-after": "50" }),
      { code: "rate_limited", retry_after_seconds: 50, what_to_do: "Wait 50 seconds, then call the tool again." },
    ],
    ["answers too_many_active_tasks", answer(429, refusal("too_many_active_tasks")), { code: "too_many_active_tasks" }],
    [
      "answers upstream_error",
      answer(502, refusal("upstream_error")),
      { code: "upstream_error", request_id: "req-fault" },
    ],
  ])(
    "give one tool error, and create at most one task, if the service %s on every attempt",
    async (_, fault, expected) => {
      service.failNext("POST", "/panoramas", ...Array(6).fill(fault));
      const error = await session.error("generate_panorama_from_text", aHarbour);
      expect(error).toMatchObject({ message: expect.any(String), what_to_do: expect.any(String), ...expected });
      if (expected.may_have_been_charged) expect(error?.what_to_do).toContain(`${service.origin}/works`);
      expect(service.tasks.length).toBeLessThanOrEqual(1);
      expect(new Set(post().map(({ headers }) => headers["idempotency-key"]))).toEqual(new Set(['"key-1"']));
    },
  );

  it.each<[string, Record<string, unknown>]>([
    ["generate_panorama_from_text", aHarbour],
    ["generate_panorama_from_images", { image_urls: ["https://images.test/a.jpg"], resolution: "1k" }],
    ["get_panorama_task", { id: "task-1" }],
    ["get_panorama_task", { id: "task-1", wait_seconds: 30 }],
    ["get_credit_balance", {}],
    ["upload_reference_images", { images: [base64(pngBytes(20))] }],
  ])("fail with timeout within 45 seconds if the service never answers %s %j", async (tool, args) => {
    for (const method of ["GET", "POST"]) service.failNext(method, "/", ...Array(9).fill({ kind: "hang" }));
    const start = clock.now().getTime();
    expect(await session.error(tool, args)).toMatchObject({ code: "timeout" });
    expect(clock.now().getTime() - start).toBeLessThanOrEqual(45_000);
  });

  it("continue a possibly accepted creation when called again with the same arguments, and charge once", async () => {
    service.failNext("POST", "/panoramas", ...Array<Fault>(6).fill({ kind: "accept-and-drop" }));
    await session.error("generate_panorama_from_text", aHarbour);
    const continued = await session.call("generate_panorama_from_text", { ...aHarbour, visibility: "private" });
    expect(continued.structuredContent).toMatchObject({ id: "task-1" });
    expect(textsOf(continued)[1]).toContain("earlier call, charged once");
    expect(service.remainingCredits).toBe(96);

    const another = await session.call("generate_panorama_from_text", aHarbour);
    expect(another.structuredContent).toMatchObject({ id: "task-2" });
  });

  it("create a new panorama for each call if the earlier one was confirmed", async () => {
    await session.call("generate_panorama_from_text", aHarbour);
    await session.call("generate_panorama_from_text", aHarbour);
    expect(post().map(({ headers }) => headers["idempotency-key"])).toEqual(['"key-1"', '"key-2"']);
  });

  it("report no possible charge for a failed read or upload", async () => {
    service.failNext("POST", "/images", answer(400, refusal("invalid_request")));
    const images = [base64(pngBytes(20))];
    expect(await session.error("upload_reference_images", { images })).toEqual({
      code: "invalid_request",
      message: "what happened",
      what_to_do: "Correct the arguments and call the tool again. Nothing was charged.",
      status: 400,
      request_id: "req-fault",
    });
    expect(await session.error("get_panorama_task", { id: "unknown" })).toMatchObject({ code: "not_found" });
  });

  it("report a wrong or missing API key without showing it, in answers and in the log", async () => {
    const secret = "sk-wrongwrongwrongwrongwrongwrongwrongwrongwro";
    const wrong = await sessionWith(secret);
    const error = await wrong.error("get_credit_balance");
    expect(error).toMatchObject({ code: "invalid_api_key", status: 401 });
    const none = await sessionWith("");
    expect(await none.error("get_credit_balance")).toMatchObject({ code: "invalid_api_key" });
    expect(JSON.stringify([error, logged])).not.toContain(secret);
    expect(logged).toEqual(["get_credit_balance: invalid_api_key", "get_credit_balance: invalid_api_key"]);
    await Promise.all([wrong.client.close(), none.client.close()]);
  });

  it("return the links of a panorama whose thumbnail cannot be read", async () => {
    await session.call("generate_panorama_from_text", aHarbour);
    service.serve(`/assets/panoramas/${"task-1".padEnd(22, "0")}-thumbnail.webp`, Buffer.from("gone"), "text/plain");
    const done = await session.call("get_panorama_task", { id: "task-1", wait_seconds: 10 });
    expect(done.structuredContent).toMatchObject({ status: "succeeded" });
    expect(done.content.some(({ type }) => type === "image")).toBe(false);
  });
});

describe("local files given to upload_reference_images", () => {
  const upload = (path: string) => session.call("upload_reference_images", { paths: [path] });

  it("are uploaded from an allowed folder", async () => {
    const path = join(folder, "allowed", "harbour.png");
    await writeFile(path, pngBytes(50));
    expect((await upload(path)).structuredContent).toMatchObject({ image_urls: [expect.any(String)] });
    expect(String(service.requests("POST", "/images")[0]?.body)).toContain('filename="harbour.png"');
  });

  it("are refused with one message outside the folder, behind a link, or if they are not files, and nothing is sent", async () => {
    await writeFile(join(folder, "outside.png"), pngBytes(50));
    await symlink(join(folder, "outside.png"), join(folder, "allowed", "link.png"));
    await symlink(folder, join(folder, "allowed", "linked"));
    await mkdir(join(folder, "allowed", "folder.png"));
    for (const path of [
      join(folder, "outside.png"),
      join(folder, "allowed", "..", "outside.png"),
      join(folder, "allowed", "link.png"),
      join(folder, "allowed", "linked", "outside.png"),
      join(folder, "allowed", "folder.png"),
      join(folder, "allowed", "missing.png"),
      "allowed/harbour.png",
    ]) {
      const error = await session.error("upload_reference_images", { paths: [path] });
      expect(error?.message).toMatch(/^paths\[0\]: is not a readable file inside an allowed folder\./);
    }
    await writeFile(join(folder, "allowed", "big.png"), pngBytes(11 * 1024 * 1024));
    const big = await session.error("upload_reference_images", { paths: [join(folder, "allowed", "big.png")] });
    expect(big?.message).toMatch(/10 MiB/);
    expect(service.received).toHaveLength(0);
  });
});
