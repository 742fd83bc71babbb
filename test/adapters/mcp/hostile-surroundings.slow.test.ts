import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import { AllowedFolders } from "../../../adapters/mcp/allowed-folders.js";
import type { Fault } from "../../support/fake-service.js";
import { pngBytes } from "../../support/image-bytes.js";
import { GENERATIONS } from "../../support/mcp-session.js";
import { setUpMcp } from "./mcp-setup.js";

const TOOLS = [
  "generate_panorama_from_text",
  "generate_panorama_from_images",
  "get_panorama_task",
  "get_credit_balance",
  "upload_reference_images",
] as const;

const usual: Readonly<Record<(typeof TOOLS)[number], Record<string, unknown>>> = {
  generate_panorama_from_text: { prompt: "a harbour", resolution: "1k" },
  generate_panorama_from_images: { image_urls: ["https://images.test/a.jpg"], resolution: "1k" },
  get_panorama_task: { id: "task-1" },
  get_credit_balance: {},
  upload_reference_images: { images: [Buffer.from(pngBytes(20)).toString("base64")] },
};

/** What a model reads of a failed call: a code, a sentence, and the next step, without words of a library. */
const expectGuidance = (error: Record<string, unknown> | undefined) => {
  if (error === undefined) return;
  expect(error).toMatchObject({
    code: expect.any(String),
    message: expect.any(String),
    what_to_do: expect.any(String),
  });
  expect(error.code).not.toBe("internal_error");
  expect(`${error.message} ${error.what_to_do}`).not.toMatch(
    /Invalid (option|input)|Unrecognized|expected one of|ZodError|undefined/,
  );
};

describe.each(GENERATIONS)("the MCP server for a client of %s", (revision) => {
  const on = setUpMcp(revision);

  it("answers arguments of every wrong type with an instructive error, and sends no invalid request", async () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom<unknown>(-1, 1.5, 1e300, "", " ", "\u0000", "\ud800", [[]], {}),
    );
    const broken = fc.constantFrom(...TOOLS).chain((tool) =>
      fc.tuple(
        fc.constant(tool),
        fc.record({
          tool: fc.constant(usual[tool]),
          argument: fc.constantFrom(
            ...Object.keys(usual[tool]),
            "visibility",
            "max_credits",
            "paths",
            "urls",
            "wait_seconds",
            "__proto__",
          ),
          value,
        }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(broken, async ([tool, { argument, value }]) => {
        // A wait that the service does not end is no wrong type, and real seconds.
        if (argument === "wait_seconds" && typeof value === "number") return;
        on.service.remainingCredits = 100;
        expectGuidance(await on.session.error(tool, { ...usual[tool], [argument]: value }));
      }),
      { numRuns: 30 },
    );
    expect(on.logged.filter((line) => line.includes("bug"))).toEqual([]);
    expect((await on.session.call("get_credit_balance")).isError).toBeFalsy();
  });

  it("answers within 45 seconds and follows no redirect, for hostile answers of the service", async () => {
    const html: Fault = { kind: "answer", status: 200, headers: { "content-type": "text/html" }, body: "<html>" };
    const location = "http://169.254.169.254/latest/meta-data";
    const redirect: Fault = { kind: "answer", status: 302, headers: { location }, body: "" };
    const huge: Fault = { kind: "answer", status: 200, body: " ".repeat(30 * 1024 * 1024) };
    const wrong = (body: unknown): Fault => ({ kind: "answer", status: 200, body: JSON.stringify(body) });
    const faults: readonly Fault[] = [
      { kind: "hang" },
      { kind: "accept-and-hang" },
      { kind: "accept-and-drop" },
      html,
      redirect,
      huge,
      wrong(null),
      wrong([]),
      wrong({
        id: 5,
        status: "new",
        remaining_credits: "many",
        image_urls: 7,
        "x-panorama": { prices: {}, uploads: {} },
      }),
      wrong({ id: "task-1", status: "succeeded", output: 5, image_urls: [5], remaining_credits: -5 }),
      { kind: "answer", status: 500, body: "{" },
      {
        kind: "answer",
        status: 429,
        headers: { "retry-after": "86400" },
        body: '{"error":{"code":"rate_limited","message":"m"}}',
      },
    ];
    const calls = fc.record({
      tool: fc.constantFrom(...TOOLS),
      faults: fc.array(fc.constantFrom(...faults), { minLength: 1, maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(calls, async ({ tool, faults }) => {
        for (const method of ["GET", "POST"]) on.service.failNext(method, "/", ...faults);
        const session = await on.sessionWith(on.service.apiKey);
        const start = on.clock.now().getTime();
        const result = await session.call(tool, usual[tool]);
        expect(on.clock.now().getTime() - start).toBeLessThanOrEqual(45_000);
        if (result.isError)
          expect(JSON.parse((result.content[0] as { text: string }).text).error.what_to_do).toMatch(/\.$/);
        await session.client.close();
        on.service.forgetFaults();
      }),
      { numRuns: 12 },
    );
  });
});

describe("upload_reference_images", () => {
  const on = setUpMcp();

  it("reads nothing outside of the allowed folders, for hostile paths", async () => {
    const allowed = join(on.folder, "allowed");
    const secret = join(on.folder, "secret");
    await mkdir(secret);
    await writeFile(join(secret, "secret.png"), Buffer.concat([pngBytes(20), Buffer.from("SECRET")]));
    await symlink(secret, join(allowed, "inside"));
    await symlink(join(secret, "secret.png"), join(allowed, "link.png"));
    await symlink("loop.png", join(allowed, "loop.png"));
    execFileSync("mkfifo", [join(allowed, "pipe.png")]);
    const step = fc.constantFrom(
      "allowed",
      "secret",
      "inside",
      "..",
      ".",
      "link.png",
      "secret.png",
      "pipe.png",
      "loop.png",
      "",
      "\u0000",
      "%2e%2e",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 5 }), fc.boolean(), async (steps, isAbsolute) => {
        const path = isAbsolute ? [on.folder, ...steps].join("/") : steps.join("/");
        const error = await on.session.error("upload_reference_images", { paths: [path] });
        expect(error).toMatchObject({ code: "invalid_request", what_to_do: expect.any(String) });
      }),
      { numRuns: 100 },
    );
    expect(on.service.requests("POST", "/images")).toEqual([]);
  });

  it("reads no file of a folder that becomes a link at any moment", async () => {
    const allowed = join(on.folder, "allowed");
    const secret = join(on.folder, "elsewhere");
    for (const [folder, text] of [
      [join(allowed, "parent", "deep"), "ALLOWED"],
      [join(secret, "deep"), "SECRET"],
    ] as const) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "a.png"), text);
    }
    await symlink(secret, join(allowed, "link"));
    // Another process replaces the folder by the link and back, until it is ended.
    const swap = `const { renameSync } = require("node:fs"); process.chdir(process.argv[1]);
      for (;;) { renameSync("parent", "kept"); renameSync("link", "parent"); renameSync("parent", "link"); renameSync("kept", "parent"); }`;
    const swapping = spawn(process.execPath, ["-e", swap, allowed]);
    const ended = once(swapping, "exit");
    try {
      const folders = new AllowedFolders(allowed);
      const seen = new Set<string>();
      for (let reads = 0; reads < 20_000 && (reads < 4_000 || seen.size < 2); reads += 1) {
        const read = await folders.read(join(allowed, "parent", "deep", "a.png"), 100, new AbortController().signal);
        seen.add(
          read.match(
            ({ bytes }) => Buffer.from(bytes).toString(),
            () => "refused",
          ),
        );
      }
      expect([...seen].sort()).toEqual(["ALLOWED", "refused"]);
    } finally {
      swapping.kill("SIGKILL");
      await ended; // a rename after this test would fail the removal of the folder
    }
  });

  it("refuses a file that grows while it is read, or has grown sparse, beyond the maximum", async () => {
    const path = join(on.folder, "allowed", "growing.png");
    await writeFile(path, pngBytes(9 * 1024 * 1024));
    const [error] = await Promise.all([
      on.session.error("upload_reference_images", { paths: [path] }),
      appendFile(path, Buffer.alloc(4 * 1024 * 1024)),
    ]);
    if (error !== undefined) expect(error.message).toMatch(/10 MiB/);
    for (const { body } of on.service.requests("POST", "/images")) expect(body.length).toBeLessThan(11 * 1024 * 1024);
    await truncate(path, 100 * 1024 * 1024 * 1024);
    expect((await on.session.error("upload_reference_images", { paths: [path] }))?.message).toMatch(/10 MiB/);
  });

  it("ends when a file or a host never answers", async () => {
    const urls = ["https://images.test/a.png"];
    const client = new PanoramaClient({ baseUrl: on.service.origin, apiKey: on.service.apiKey });
    let waits = 0;
    const clock = { now: () => new Date(), sleep: async () => void waits++ };
    const session = await on.sessionWith(on.service.apiKey, client, {
      clock,
      download: async (_, { signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return err("cannot be downloaded in time.");
      },
    });
    expect(await session.error("upload_reference_images", { urls })).toMatchObject({
      message: expect.stringMatching(/^urls\[0\]: /),
      what_to_do: expect.stringContaining("Ask the person"),
    });
    expect(waits).toBe(1);
    await session.client.close();
  });

  it("uploads the image of a URL after the images of the paths", async () => {
    const path = join(on.folder, "allowed", "one.png");
    await writeFile(path, pngBytes(50, 1));
    const client = new PanoramaClient({ baseUrl: on.service.origin, apiKey: on.service.apiKey });
    const session = await on.sessionWith(on.service.apiKey, client, {
      download: async () => ok({ bytes: pngBytes(60, 2), name: "two.png" }),
    });
    const args = { paths: [path], urls: ["https://images.test/two.png"] };
    const { structuredContent } = await session.call("upload_reference_images", args);
    expect((structuredContent as { image_urls: string[] }).image_urls).toHaveLength(2);
    const body = String(on.service.requests("POST", "/images")[0]?.body);
    expect(body.indexOf("one.png")).toBeLessThan(body.indexOf("two.png"));
    await session.client.close();
  });
});
