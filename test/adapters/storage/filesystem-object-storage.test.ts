import { mkdir, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { objectStorageContract } from "../../../adapters/contracts/object-storage-contract.js";
import { filesystemObjectStorage } from "../../../adapters/storage/filesystem-object-storage.js";
import { panoramaName, referenceImageName } from "../../../domain/images/object-name.js";
import { scratchFolder } from "../../support/scratch-folder.js";

const ASSET_URL = "http://localhost:8080/assets";
const REFERENCE_URL = "https://localhost:8443/assets";
const open = (folder: string) => filesystemObjectStorage({ folder, assetUrl: ASSET_URL, referenceUrl: REFERENCE_URL });
const panorama = panoramaName("Az09_-".repeat(4));
const reference = referenceImageName("ab".repeat(11), "image/webp");

describe("FilesystemObjectStorage", () => {
  objectStorageContract({ describe, it }, async () => open(await scratchFolder()));

  it("stores an object in a file of its name; panoramas and references have different base URLs", async () => {
    const folder = await scratchFolder();
    const storage = await open(folder);
    await storage.put(panorama, Buffer.from("panorama"), "image/jpeg");
    await storage.put(reference, Buffer.from("reference"), "image/webp");
    expect(await readFile(join(folder, panorama), "utf8")).toBe("panorama");
    expect(await readFile(join(folder, reference), "utf8")).toBe("reference");
    expect(storage.urlOf(panorama)).toBe(`${ASSET_URL}/${panorama}`);
    expect(storage.urlOf(reference)).toBe(`${REFERENCE_URL}/${reference}`);
    expect(storage.nameOf(`${REFERENCE_URL}/${panorama}`)).toBeUndefined();
  });

  it("returns the size and type of an object, and streams any byte range", async () => {
    const storage = await open(await scratchFolder());
    const bytes = Buffer.from("0123456789");
    await storage.put(reference, bytes, "image/webp");
    expect((await storage.stat(reference))._unsafeUnwrap()).toEqual({ sizeBytes: 10, contentType: "image/webp" });
    expect((await storage.stat(panorama))._unsafeUnwrapErr().kind).toBe("not_found");
    expect(await storage.has(reference)).toEqual(ok(true));
    expect(await storage.has(panorama)).toEqual(ok(false));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }), async (one, other) => {
        const [start, end] = [Math.min(one, other), Math.max(one, other)];
        expect(await buffer(storage.stream(reference, start, end))).toEqual(bytes.subarray(start, end + 1));
      }),
      { numRuns: 20 },
    );
  });

  it("returns a name only for the exact URL of an object", async () => {
    const storage = await open(await scratchFolder());
    const piece = fc.oneof(
      fc.constantFrom(ASSET_URL, REFERENCE_URL, "/", panorama, reference, "..", "%2f", "?", "#", "@", "https://"),
      fc.string({ maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const url = pieces.join("");
        const name = storage.nameOf(url);
        if (name !== undefined) expect(storage.urlOf(name)).toBe(url);
        else expect([`${ASSET_URL}/${panorama}`, `${REFERENCE_URL}/${reference}`]).not.toContain(url);
      }),
      { numRuns: 2000 },
    );
  });

  it("returns storage_unavailable when the file system fails", async () => {
    const folder = await scratchFolder();
    const storage = await open(folder);
    await mkdir(join(folder, panorama)); // a folder instead of a file cannot be read
    expect((await storage.read(panorama))._unsafeUnwrapErr().kind).toBe("storage_unavailable");
    await rm(join(folder, "incoming"), { recursive: true });
    expect((await storage.put(reference, Buffer.from("bytes"), "image/webp"))._unsafeUnwrapErr().kind).toBe(
      "storage_unavailable",
    );
  });

  it("leaves no temporary files; open deletes files of killed processes after an hour", async () => {
    const folder = await scratchFolder();
    const incoming = join(folder, "incoming");
    await (await open(folder)).put(panorama, Buffer.from("bytes"), "image/jpeg");
    expect(await readdir(incoming)).toEqual([]);

    await writeFile(join(incoming, "killed"), "half");
    await writeFile(join(incoming, "unfinished"), "half");
    const twoHoursAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
    await utimes(join(incoming, "killed"), twoHoursAgo, twoHoursAgo);
    await open(folder);
    expect(await readdir(incoming)).toEqual(["unfinished"]);
  });
});
