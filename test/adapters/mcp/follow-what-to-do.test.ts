import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import { AllowedFolders } from "../../../adapters/mcp/allowed-folders.js";
import type { McpDependencies } from "../../../adapters/mcp/panorama-mcp-server.js";
import type { Fault } from "../../support/fake-service.js";
import { USUAL_OFFER } from "../../support/fake-service.js";
import { freePort } from "../../support/free-port.js";
import { base64, pngBytes } from "../../support/image-bytes.js";
import { followLiterally } from "../../support/literal-assistant.js";
import { aHarbour, setUpMcp } from "./mcp-setup.js";

const on = setUpMcp("2026-07-28");

type Start = {
  readonly tool?: string;
  readonly args?: Record<string, unknown>;
  readonly key?: string;
  readonly isDown?: true;
  readonly before?: () => unknown;
  readonly differences?: () => Partial<McpDependencies>;
  /** A finished panorama, or the sentence for the person. */
  readonly ends: "panorama" | RegExp;
};

const anImage = base64(pngBytes(50));
const uploads = "upload_reference_images";
const fromImages = "generate_panorama_from_images";
const refusal = (status: number, code: string, more: object = {}, headers = {}): Fault => {
  const body = JSON.stringify({ error: { code, message: "It was refused.", ...more } });
  return { kind: "answer", status, headers, body };
};
const failNext = (method: string, path: string, fault: Fault, times = 1) =>
  on.service.failNext(method, path, ...Array<Fault>(times).fill(fault));
const failedTask = (reason: string): Fault => {
  const error = { code: "generation_failed", reason, message: "The generation failed." };
  const body = JSON.stringify({ id: "task-1", status: "failed", credits_charged: 4, error });
  return { kind: "answer", status: 200, body };
};
const withAbilities = (images_min: number, images_max: number, prompt_characters_max: number) => {
  const abilities = { images_min, images_max, prompt_characters_max, resolutions: ["1k", "2k", "4k"] };
  on.service.offer = { ...USUAL_OFFER, abilities };
};
const images = (count: number) => Array.from({ length: count }, (_, n) => `https://images.test/${n}.jpg`);
const html: Fault = { kind: "answer", status: 200, headers: { "content-type": "text/html" }, body: "<html>" };

const starts: Record<string, Start> = {
  "no key": { key: "", ends: /create a valid key/ },
  "a wrong key": { key: `sk-${"wrong".repeat(9)}`, ends: /create a valid key/ },
  "no credits": { before: () => Object.assign(on.service, { remainingCredits: 0 }), ends: /credits can be bought/ },
  "no folders": {
    tool: uploads,
    args: { paths: ["/home/ann/harbour.jpg"] },
    differences: () => ({ folders: new AllowedFolders("") }),
    ends: /Ask the person to set PANORAMA_UPLOAD_DIRS="\/home\/ann"/,
  },
  "a file outside of the folders": {
    tool: uploads,
    args: { paths: ["/home/ann/harbour.jpg"] },
    ends: /Ask the person to save the image in the folder \S+allowed .*PANORAMA_UPLOAD_DIRS="\/home\/ann".*restart/,
  },
  "a file that is too large": {
    tool: uploads,
    args: { images: [base64(pngBytes(11 * 1024 * 1024))] },
    ends: /smaller/,
  },
  "no image": { tool: uploads, ends: /path of an image file/ },
  "a data: URL": { tool: uploads, args: { images: [`data:image/png;base64,${anImage}`] }, ends: "panorama" },
  "a prompt that is too short": { args: { ...aHarbour, prompt: "ab" }, ends: "panorama" },
  "a prompt that is no text": { args: { ...aHarbour, prompt: 12 }, ends: "panorama" },
  "a prompt that is too long here": {
    before: () => withAbilities(0, 3, 100),
    args: { ...aHarbour, prompt: "a harbour ".repeat(30) },
    ends: "panorama",
  },
  "an unknown resolution": { args: { ...aHarbour, resolution: "8k" }, ends: "panorama" },
  "an argument that does not exist": { args: { ...aHarbour, seed: 7 }, ends: "panorama" },
  "a budget that is too small": { args: { ...aHarbour, resolution: "4k", max_credits: 7 }, ends: "panorama" },
  "no budget": { args: { ...aHarbour, max_credits: 0 }, ends: /Ask the person whether you may raise max_credits/ },
  "too many images": { tool: fromImages, args: { resolution: "1k", image_urls: images(4) }, ends: "panorama" },
  "images where none are taken": {
    before: () => withAbilities(0, 0, 4000),
    tool: fromImages,
    args: { ...aHarbour, image_urls: images(1) },
    ends: "panorama",
  },
  "an http URL of an image that the person has as a file": {
    tool: fromImages,
    args: { resolution: "1k", image_urls: ["http://images.test/a.jpg"] },
    ends: "panorama",
  },
  "an image that the service does not find": {
    tool: fromImages,
    args: { resolution: "1k", image_urls: images(1) },
    before: () => failNext("POST", "/panoramas", refusal(400, "invalid_request", { param: "image_urls[0]" })),
    differences: () => ({ download: async () => ok({ bytes: pngBytes(50) }) }),
    ends: "panorama",
  },
  "a service that is down": { isDown: true, ends: /tell the person that the service is unavailable/ },
  "a lost answer": { before: () => failNext("POST", "/panoramas", { kind: "accept-and-drop" }, 6), ends: "panorama" },
  "a proxy in between": { before: () => failNext("POST", "/panoramas", html, 20), ends: /tell the person/ },
  "too many requests": {
    before: () => failNext("POST", "/panoramas", refusal(429, "rate_limited", {}, { "retry-after": "50" })),
    ends: "panorama",
  },
  "too many tasks": {
    before: () => failNext("POST", "/panoramas", refusal(429, "too_many_active_tasks")),
    ends: "panorama",
  },
  "a provider that refuses once": {
    before: () => failNext("POST", "/panoramas", refusal(502, "upstream_error")),
    ends: "panorama",
  },
  "a generation that fails once": {
    before: () => failNext("GET", "/panoramas/task-1", failedTask("provider_failed")),
    ends: "panorama",
  },
  "a generation that always fails": { args: { ...aHarbour, prompt: "a storm test:fail" }, ends: /tell the person/ },
  "a prompt that is refused": {
    before: () => failNext("GET", "/panoramas/task-1", failedTask("content_refused")),
    ends: /ask for another description/,
  },
  "an unknown task": {
    tool: "get_panorama_task",
    args: { id: "task-9" },
    ends: /panorama:\/\/recent.*tell the person/,
  },
};

describe("a program that does literally what what_to_do says", () => {
  it.each(Object.entries(starts))("comes to a panorama or to a clear stop within five calls: %s", async (_, start) => {
    const { tool = "generate_panorama_from_text", args = tool === uploads ? {} : aHarbour, key, isDown } = start;
    const file = join(on.folder, "allowed", "harbour.png");
    await writeFile(file, pngBytes(50));
    start.before?.();
    const apiKey = key ?? on.service.apiKey;
    const baseUrl = isDown ? `http://127.0.0.1:${await freePort()}` : on.service.origin;
    const client = new PanoramaClient({ baseUrl, apiKey }, on.clock, () => 0.5);
    const session = await on.sessionWith(apiKey, client, start.differences?.());
    const wait = (seconds: number) => Promise.resolve(void seconds);
    const { ended, calls } = await followLiterally({ tool, args }, { session, wait, file });
    if (start.ends === "panorama") expect(ended).toBe("panorama");
    else expect(ended).toMatch(start.ends);
    expect(calls).toBeLessThanOrEqual(5);
    const paid = on.service.tasks.reduce((sum, { credits_charged }) => sum + credits_charged, 0);
    expect(paid).toBeLessThanOrEqual(8); // at most one creation more than the one that failed
    await session.client.close();
  });
});
