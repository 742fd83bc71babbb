import sharp from "sharp";
import { afterEach, beforeEach, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { leadingPrompt } from "../../../../../adapters/provider/remote/leading-prompt.js";
import { hostedPicture } from "../../../../support/hosted-pictures.js";
import { type FalChoiceOptions, startFal } from "../../../../support/providers-under-test.js";
import { plain } from "../../../../support/test-images.js";

const COLOURS = ["#d01030", "#10d030", "#3010d0"];
const FILL = { model: "fal-ai/flux-2/lora", editModel: "fal-ai/flux-pro/v1/fill", references: "canvas" } as const;

let storage: MemoryObjectStorage;
let remote: Awaited<ReturnType<typeof startFal>>;
beforeEach(() => {
  storage = new MemoryObjectStorage();
});
afterEach(() => remote.close());

/** The URL of the n-th picture that this service hosts. */
const hosted = async (colour: string, widthPixels = 30, n = 1): Promise<string> =>
  hostedPicture(storage, await plain({ widthPixels, heightPixels: 20 }, colour).png().toBuffer(), n);
const photos = () => Promise.all(COLOURS.map((colour, n) => hosted(colour, 30, n)));

const submit = async (options: FalChoiceOptions, urls: readonly string[]) => {
  remote = await startFal({ storage }, options);
  expect((await remote.provider.check()).isOk()).toBe(true);
  const request = aCreationRequest({ prompt: "a lake", image_urls: [...urls], resolution: "1k" });
  expect(remote.provider.checkRequest(request).isOk()).toBe(true);
  return { request, submitted: await remote.provider.submit({ taskId: taskId(1), request }) };
};

/** The input of the only task. */
const sent = () => {
  const [task, ...others] = remote.fake.tasks;
  if (task === undefined || others.length > 0) throw new Error("There is not one task.");
  return task.input;
};

// What canvas and mask show: images/sphere-canvas.test.ts, and models.slow.test.ts with what is sent.
const PNG = expect.stringMatching(/^data:image\/png;base64,/);

it("sends a model with a mask one picture with all photos, in the requested size, and the mask", async () => {
  const { request, submitted } = await submit({ model: "gpt-image-2", references: "canvas" }, await photos());
  const { prompt, image_urls, mask_url, image_size } = sent();
  expect(prompt).toBe(leadingPrompt(request, undefined, "canvas"));
  expect(image_size).toEqual({ width: 1152, height: 576 });
  expect([image_urls, mask_url]).toEqual([[PNG], PNG]);
  expect((await remote.provider.poll(submitted._unsafeUnwrap()))._unsafeUnwrap().state).toBe("succeeded");
});

it("sends three photos as one picture to a model with a mask", async () => {
  await submit(FILL, await photos());
  const { image_url, mask_url } = sent();
  for (const [sentAs, channels] of [
    [image_url, 3],
    [mask_url, 4],
  ] as const) {
    const bytes = Buffer.from(String(sentAs).replace("data:image/png;base64,", ""), "base64");
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "png", width: 1024, height: 512, channels });
  }
});

it("sends a panorama without a mask, because the mask would let the model paint all of it", async () => {
  const { request } = await submit({ model: "gpt-image-2", references: "canvas" }, [await hosted("#d01030", 40)]);
  const input = sent();
  expect(input).not.toHaveProperty("mask_url");
  expect(input.prompt).toBe(leadingPrompt(request, undefined, "panorama"));
  expect(input.image_urls).toEqual([PNG]);
});

it("refuses a panorama for a model that needs a mask: it would ignore the picture", async () => {
  const { submitted } = await submit(FILL, [await hosted("#d01030", 40)]);
  expect(submitted._unsafeUnwrapErr()).toEqual({
    kind: "refused",
    reason: "the model paints around photos, and the reference image is a whole panorama",
    cause: "reference_unusable",
  });
  expect(remote.fake.tasks).toEqual([]);
});
