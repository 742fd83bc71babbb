import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import {
  type GenerateOptions,
  generatePanorama,
  stateOf,
  type TaskChange,
} from "../../../adapters/terminal/generate-panorama.js";
import { silentProgress } from "../../../adapters/terminal/progress-display.js";
import { FakeService, type Fault, USUAL_OFFER } from "../../support/fake-service.js";
import { pngBytes } from "../../support/image-bytes.js";
import { scratchFolder } from "../../support/scratch-folder.js";
import { SkippingClock } from "../../support/skipping-clock.js";

let service: FakeService;
let steps: string[];
let folder: string;

const generate = (
  options: Partial<GenerateOptions>,
  watch: Partial<Pick<Parameters<typeof generatePanorama>[0], "onChange" | "progress" | "signal">> = {},
) =>
  generatePanorama(
    {
      client: new PanoramaClient(
        { baseUrl: service.origin, apiKey: service.apiKey },
        new SkippingClock(() => service.hanging()),
        () => 0.5,
      ),
      progress: { step: (text) => steps.push(text), clear: () => {}, end: () => {} },
      ...watch,
    },
    {
      prompt: "a quiet harbour",
      images: [],
      resolution: "1k",
      visibility: "private",
      maxCredits: undefined,
      seed: undefined,
      out: join(folder, "out.jpg"),
      ...options,
    },
  );

/** An answer to the reading of the task. */
const read = (state: object): Fault => ({
  kind: "answer",
  status: 200,
  body: JSON.stringify({ id: "task-1", credits_charged: 4, ...state }),
});

beforeEach(async () => {
  folder = await scratchFolder();
  steps = [];
  service = await FakeService.start();
});
afterEach(() => service.stop());

describe("panorama generate", () => {
  it("creates a panorama, waits, saves the image, and reports each step", async () => {
    const { task, file } = (await generate({}))._unsafeUnwrap();
    expect(task).toMatchObject({ id: "task-1", status: "succeeded" });
    expect(file).toBe(join(folder, "out.jpg"));
    expect((await readFile(file)).subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
    expect(steps).toEqual([
      "Creating the panorama",
      "Generating (task task-1)",
      "Generating (task task-1, 0 s)",
      "Saving the image",
    ]);
  });

  it("uploads local images and keeps the order of images and URLs", async () => {
    await writeFile(join(folder, "a.png"), pngBytes(50, 1));
    await writeFile(join(folder, "b.png"), pngBytes(50, 2));
    const images = [join(folder, "a.png"), "https://elsewhere.test/c.jpg", join(folder, "b.png")];
    expect((await generate({ images, prompt: undefined })).isOk()).toBe(true);
    expect(steps[0]).toBe("Uploading 2 images");
    const { image_urls } = JSON.parse(String(service.requests("POST", "/panoramas")[0]?.body));
    expect(image_urls).toEqual([
      expect.stringMatching(/^https:\/\/images\.test\//),
      "https://elsewhere.test/c.jpg",
      expect.stringMatching(/^https:\/\/images\.test\//),
    ]);
    expect(image_urls[0]).not.toBe(image_urls[2]);
  });

  it("refuses invalid options before anything is sent", async () => {
    const refused = async (options: Partial<GenerateOptions>) => (await generate(options))._unsafeUnwrapErr().message;
    expect(await refused({ prompt: undefined })).toContain("needs a prompt");
    expect(await refused({ resolution: "8k" })).toMatch(/^--resolution: /);
    expect(await refused({ maxCredits: "3" })).toBe(
      "--max-credits: is 3, but this panorama costs 4 credits; nothing was reserved.",
    );
    for (const maxCredits of ["many", "-1", "1.5", ""]) {
      expect(await refused({ maxCredits })).toMatch(/^--max-credits: must be a whole number, 0 or more, but is /);
    }
    for (const seed of ["2147483648", "-1", "1.5", "seven", ""]) {
      expect(await refused({ seed })).toMatch(/^--seed: must be an integer from 0 to 2147483647/);
    }
    expect(await refused({ images: Array(4).fill("a.png") })).toContain("at most 3");
    expect(await refused({ images: ["ftp://a.test/b.png"] })).toContain("https://");
    expect(await refused({ images: [join(folder, "missing.png")] })).toContain("missing.png: cannot be read.");
    expect(await refused({ out: join(folder, "missing", "out.jpg") })).toContain("cannot be written");
    await writeFile(join(folder, "text.png"), "plain text");
    expect(await refused({ images: [join(folder, "text.png")] })).toContain(
      `${join(folder, "text.png")}: must be one of`,
    );
    // The price was asked for once, by the option that was valid; nothing else was sent.
    expect(service.received.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /api/v1/openapi.json"]);
  });

  it("takes the id of an own panorama where no file has that name, and any URL of one", async () => {
    const { task } = (await generate({}))._unsafeUnwrap();
    const url = task.status === "succeeded" ? (task.output?.image_url ?? "") : "";
    expect(url).toMatch(/^http:/);
    const local = join(folder, "local.png");
    await writeFile(local, pngBytes(20));
    expect((await generate({ images: [task.id, local, url] })).isOk()).toBe(true);
    const { image_urls } = JSON.parse(String(service.requests("POST", "/panoramas").at(-1)?.body));
    expect(image_urls).toEqual([url, expect.stringMatching(/^https:\/\/images\.test\//), url]);

    const refused = async (image: string) => (await generate({ images: [image] }))._unsafeUnwrapErr();
    expect(await refused("task-99")).toEqual({
      kind: "usage",
      message: "task-99: is no file, and no panorama of this account.",
    });
    service.readsWhileProcessing = 9;
    const running = service.tasks.length + 1;
    await new PanoramaClient({ baseUrl: service.origin, apiKey: service.apiKey }).create({
      prompt: "a harbour",
      resolution: "1k",
    });
    expect((await refused(`task-${running}`)).message).toContain("has no stored image");
    expect((await refused(folder)).message).toContain("cannot be read");
  });

  it("sends the seed and the most that the panorama may cost, after it has compared the price of the service", async () => {
    service.offer = { ...USUAL_OFFER, prices: { "1k": 3, "2k": 6, "4k": 10 } };
    expect((await generate({ maxCredits: "3", seed: "7" })).isOk()).toBe(true);
    expect(JSON.parse(String(service.requests("POST", "/panoramas")[0]?.body))).toMatchObject({
      max_credits: 3,
      seed: 7,
    });
    expect((await generate({ maxCredits: "2" }))._unsafeUnwrapErr().message).toContain("costs 3 credits");
  });

  it("reports an error in one line", async () => {
    expect((await generate({ prompt: "a storm test:fail" }))._unsafeUnwrapErr().message).toMatch(
      /^Task task-1: .*refunded/,
    );
    service.remainingCredits = 0;
    expect((await generate({}))._unsafeUnwrapErr().message).toBe(
      "refused: insufficient_credits (insufficient_credits, request req-1)",
    );
    service.failNext("POST", "/panoramas", ...Array(6).fill({ kind: "accept-and-drop" }));
    expect((await generate({}))._unsafeUnwrapErr().message).toContain("Check My panoramas before you try again");
  });

  it("reports the viewer URL if the image cannot be saved", async () => {
    service.serve(`/assets/panoramas/${"task-1".padEnd(22, "0")}.jpg`, Buffer.from("<html>"), "text/html");
    const error = (await generate({}))._unsafeUnwrapErr().message;
    expect(error).toContain(`Task task-1 has succeeded (${service.origin}/works/slug-task-1)`);
    expect(error).toContain("is not an image");
  });

  it("reports every change of the task once, until its image is in permanent storage", async () => {
    const output = { image_url: `${service.origin}/assets/panoramas/temporary.jpg`, slug: "s", viewer_url: "v" };
    const uploading = read({ status: "succeeded", output: { ...output, storage_status: "uploading" } });
    const processing = read({ status: "processing" });
    const saved = read({ status: "succeeded", output: { ...output, storage_status: "saved" } });
    const reads = [processing, processing, read({ status: "succeeded" }), uploading, uploading, saved];
    service.failNext("GET", "/panoramas/task-1", ...reads);
    const states: string[] = [];
    expect((await generate({}, { onChange: (task) => states.push(stateOf(task)) })).isOk()).toBe(true);
    expect(states).toEqual(["processing", "succeeded", "succeeded, image uploading", "succeeded, image saved"]);
  });

  it("shows the place in the queue and the time that is left, which are no changes of the task", async () => {
    const status = "processing";
    const [queued, running] = [
      { status, queue_position: 1, estimated_seconds: 300 },
      { status, estimated_seconds: 40 },
    ];
    service.failNext("GET", "/panoramas/task-1", read(queued), read(running));
    const states: string[] = [];
    await generate({}, { onChange: (task) => states.push(stateOf(task)) });
    expect(states).toEqual(["processing", "succeeded, image saved"]);
    expect(steps.filter((step) => step.includes("left"))).toEqual([
      "Generating (task task-1, 0 s, behind 1 task in the queue, about 5 min left)",
      "Generating (task task-1, 2 s, about 40 s left)",
    ]);
  });

  it("reports the failure of the task as its last change", async () => {
    const changes: TaskChange[] = [];
    await generate({ prompt: "a storm test:fail" }, { onChange: (task) => changes.push(task) });
    expect(changes).toMatchObject([
      { id: "task-1", status: "processing", credits_charged: 4 },
      { id: "task-1", status: "failed", credits_charged: 4, error: { code: "generation_failed" } },
    ]);
  });

  it("leaves the task running after an interrupt, and prints its id", async () => {
    const interrupted = new AbortController();
    const ended = await generate({}, { onChange: () => interrupted.abort(), signal: interrupted.signal });
    expect(ended._unsafeUnwrapErr().message).toMatch(/^Interrupted\. Task task-1 continues: /);
    expect(service.requests("GET", "/panoramas/task-1")).toHaveLength(0);
  });

  it("warns on an interrupt that an unanswered creation may have been charged", async () => {
    const interrupted = new AbortController();
    service.failNext("POST", "/panoramas", { kind: "accept-and-hang" });
    void service.hanging().then(() => interrupted.abort());
    const ended = await generate({}, { signal: interrupted.signal });
    expect(ended._unsafeUnwrapErr().message).toContain("may have been accepted and charged");
  });

  it("sends nothing when it is interrupted before", async () => {
    const interrupted = new AbortController();
    const progress = { ...silentProgress, step: () => interrupted.abort() };
    const ended = await generate({}, { progress, signal: interrupted.signal });
    expect(ended._unsafeUnwrapErr().message).toBe("The call was aborted. (aborted)");
    expect(service.requests("POST", "/panoramas")).toHaveLength(0);
  });
});
