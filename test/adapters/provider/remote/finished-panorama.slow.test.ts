import { createHash, randomBytes } from "node:crypto";
import sharp from "sharp";
import { beforeAll, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../adapters/contracts/support/builders.js";
import { MemoryObjectStorage } from "../../../../adapters/memory/memory-object-storage.js";
import { smallerReference } from "../../../../adapters/provider/remote/images/smaller-reference.js";
import { type ObjectName, panoramaName, referenceImageName } from "../../../../domain/images/object-name.js";
import type { FakeProvider, UpstreamTask } from "../../../support/fake-provider.js";
import { MODELS } from "../../../support/models-under-test.js";
import { plain } from "../../../support/test-images.js";

const MIB = 1024 * 1024;
const PANORAMA = panoramaName("p".repeat(22));
const PHOTO = referenceImageName("f".repeat(22), "image/png");
/** As the embedded default serves them. */
const ORIGIN = "http://localhost:8080/assets/";

class HttpStorage extends MemoryObjectStorage {
  override urlOf(name: ObjectName): string {
    return ORIGIN + name;
  }
  override nameOf(url: string): ObjectName | undefined {
    return url.startsWith(ORIGIN) ? super.nameOf(super.urlOf(url.slice(ORIGIN.length) as ObjectName)) : undefined;
  }
}

const storage = new HttpStorage();
const [panorama, photo] = [storage.urlOf(PANORAMA), storage.urlOf(PHOTO)];
let smaller: Buffer;
beforeAll(async () => {
  // A 4k file above 10 MiB: noise, the left half darker than the right one.
  const [width, height] = [3840, 1920];
  const noise = randomBytes(width * height * 3);
  for (let at = 0; at < noise.length; at += 1) {
    noise[at] = ((noise[at] ?? 0) >> 1) + ((at / 3) % width < width / 2 ? 0 : 128);
  }
  const file = await sharp(noise, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 98, chromaSubsampling: "4:4:4" })
    .toBuffer();
  expect(file.length).toBeGreaterThan(10 * MIB);
  const sent = (await smallerReference(file, { edgePixelsMax: 4096 }))._unsafeUnwrap();
  smaller = Buffer.from(sent.bytes);
  await storage.put(PANORAMA, file, "image/jpeg");
  await storage.put(
    PHOTO,
    await plain({ widthPixels: 600, heightPixels: 400 }, "#10d030").png().toBuffer(),
    "image/png",
  );
});

/** Bytes that were sent; `undefined` for an uploaded file, which has the hash of its bytes in its name. */
const sentBytes = (reference: unknown): Buffer | undefined => {
  const base64 = String(reference).replace(/^data:image\/[a-z]+;base64,/, "");
  return /^[\w+/]{1000}/.test(base64) ? Buffer.from(base64, "base64") : undefined;
};

const ratiosOf = (references: readonly unknown[]) =>
  Promise.all(
    references.map(async (reference) => {
      const bytes = sentBytes(reference);
      if (bytes === undefined) return undefined;
      const { width = 0, height = 1 } = await sharp(bytes).metadata();
      return width / height;
    }),
  );

const halves = async (picture: Buffer): Promise<number[]> => {
  const { data } = await sharp(picture)
    .greyscale()
    .resize(2, 1, { fit: "fill" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return [...data];
};

const everythingSent = (fake: FakeProvider): string => JSON.stringify(fake.server.requests);

describe.each(MODELS)("$name with a finished panorama", ({ start }) => {
  it("gets it whole, within the limits of the model, and never our URL", async () => {
    const { provider, fake, close } = await start({ storage, submitTimeoutMilliseconds: 120_000 });
    try {
      expect((await provider.check()).isOk()).toBe(true);
      const submit = async (id: number, image_urls: readonly string[]) => {
        const request = aCreationRequest({ prompt: "the same at night", image_urls });
        if (provider.checkRequest(request).isErr()) return undefined;
        const sent = await provider.submit({ taskId: taskId(id), request });
        return sent.isOk() ? (fake.tasks.at(-1) as UpstreamTask) : sent.error;
      };
      const alone = await submit(1, [panorama]);
      if (alone !== undefined) {
        if (!("input" in alone)) throw new Error(JSON.stringify(alone));
        const references = fake.referencesOf(alone);
        expect(references).toHaveLength(1);
        const picture = sentBytes(references[0]) ?? smaller;
        if (picture === smaller) {
          const name = `${createHash("sha256").update(smaller).digest("hex")}.jpeg`;
          expect(everythingSent(fake)).toContain(name);
        }
        expect(picture.length).toBeLessThan(10 * MIB);
        const { width = 0, height = 0 } = await sharp(picture).metadata();
        expect([width >= 1024, width / height]).toEqual([true, 2]);
        const [left = 0, right = 0] = await halves(picture);
        expect(right - left).toBeGreaterThan(100);
        const prompt = fake.promptOf(alone) ?? "";
        expect(prompt).toContain("the same at night");
        if (prompt.includes("equirectangular projection")) expect(prompt).toContain("is such a panorama already");
      }
      // Beside others it comes in its order.
      const beside = await submit(2, [photo, panorama]);
      if (beside !== undefined && "input" in beside && fake.referencesOf(beside).length === 2) {
        const ratios = await ratiosOf(fake.referencesOf(beside));
        for (const [index, ratio] of ratios.entries()) expect([undefined, [1.5, 2][index]]).toContain(ratio);
        expect(fake.promptOf(beside)).not.toContain("is such a panorama already");
      }
      // The address that assets had before: nobody gets it, and nobody reads it.
      const before = fake.server.requests.length;
      const former = await submit(3, [`http://assets.example/panoramas/${"p".repeat(22)}.jpg`]);
      if (former !== undefined) expect(former).toMatchObject({ kind: "refused", cause: "reference_unreachable" });
      expect(fake.server.requests.slice(before).filter(({ method }) => method !== "GET")).toEqual([]);
      expect(everythingSent(fake)).not.toMatch(/localhost:8080|assets\.example/);
    } finally {
      await close();
    }
  }, 120_000);
});
