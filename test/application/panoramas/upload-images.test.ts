import { err } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { type UploadedFile, uploadImages } from "../../../application/panoramas/upload-images.js";
import { UPLOAD_FILE_BYTES_MAX } from "../../../domain/upload-rules.js";
import { image } from "../../support/fake-imaging.js";
import { aWorld, type World } from "../../support/world.js";

let world: World;
beforeEach(() => {
  world = aWorld();
});

const aFile = (bytes: Uint8Array, declaredType?: string): UploadedFile => ({
  declaredType,
  sizeBytes: bytes.length,
  read: async () => bytes,
});
const [cat, dog] = [image("cat"), image("dog")];
const upload = (...files: UploadedFile[]) => uploadImages(world)(files);

describe("uploadImages", () => {
  it("returns the public URLs in the order of the files, and the same URL for the same bytes", async () => {
    const urls = (await upload(aFile(cat), aFile(dog), aFile(cat, "image/jpeg")))._unsafeUnwrap();
    expect(urls[0]).toMatch(/^https:\/\/objects\.example\/references\/[0-9a-f]{64}\.jpg$/);
    expect(urls[1]).not.toBe(urls[0]);
    expect(urls[2]).toBe(urls[0]);
    expect((await upload(aFile(dog)))._unsafeUnwrap()).toEqual([urls[1]]);
    expect([...world.storage.objects.values()]).toEqual([
      { bytes: Uint8Array.from(cat), contentType: "image/jpeg" },
      { bytes: Uint8Array.from(dog), contentType: "image/jpeg" },
    ]);
  });

  it("stores nothing if one file is refused", async () => {
    const refused = await upload(aFile(cat), aFile(Buffer.from("GIF89a, a type that is not accepted")), aFile(dog));
    expect(refused._unsafeUnwrapErr()).toEqual({
      kind: "invalid_request",
      field: "files",
      index: 1,
      rule: { name: "image_type", allowed: ["image/jpeg", "image/png", "image/webp"] },
    });
    expect(world.storage.objects.size).toBe(0);
  });

  it("refuses a file whose declared type differs from its bytes", async () => {
    expect((await upload(aFile(cat, "image/png")))._unsafeUnwrapErr()).toMatchObject({ kind: "invalid_request" });
  });

  it("refuses a file with an image signature that cannot be decoded", async () => {
    world.imaging.inspect = async () => err({ kind: "unusable_image", reason: "it is incomplete" });
    expect((await upload(aFile(cat)))._unsafeUnwrapErr()).toMatchObject({
      field: "files",
      index: 0,
      rule: { name: "usable_image", reason: "it is incomplete" },
    });
    expect(world.storage.objects.size).toBe(0);
  });

  it("refuses an empty upload, and too many or too large files, before it reads any", async () => {
    const unreadable = (sizeBytes: number): UploadedFile => ({
      declaredType: undefined,
      sizeBytes,
      read: () => Promise.reject(new Error("must not be read")),
    });
    for (const files of [
      [],
      Array.from({ length: 6 }, () => unreadable(1)),
      [unreadable(UPLOAD_FILE_BYTES_MAX + 1)],
      Array.from({ length: 3 }, () => unreadable(UPLOAD_FILE_BYTES_MAX)),
    ]) {
      expect((await upload(...files))._unsafeUnwrapErr()).toMatchObject({ kind: "invalid_request" });
    }
  });

  it("returns storage_unavailable when the storage is unavailable", async () => {
    world.storage.available = false;
    expect((await upload(aFile(cat)))._unsafeUnwrapErr()).toMatchObject({ kind: "storage_unavailable" });
  });
});
