import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeOnce } from "../../../adapters/system/files.js";
import { scratchFolder } from "../../support/scratch-folder.js";

describe("writeOnce", () => {
  it("writes all bytes, or text as UTF-8, and returns true", async () => {
    const folder = await scratchFolder();
    const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
    expect(await writeOnce(join(folder, "image"), bytes)).toBe(true);
    expect(Buffer.compare(await readFile(join(folder, "image")), bytes)).toBe(0);
    expect(await writeOnce(join(folder, "text"), "grün")).toBe(true);
    expect(await readFile(join(folder, "text"), "utf8")).toBe("grün");
  });

  it("keeps an existing file, returns false, and leaves no temporary file behind", async () => {
    const folder = await scratchFolder();
    const path = join(folder, "image");
    await writeOnce(path, "first");
    expect(await writeOnce(path, "second")).toBe(false);
    expect(await readFile(path, "utf8")).toBe("first");
    expect(await readdir(folder)).toEqual(["image"]);
  });

  it("throws and leaves no temporary file behind when the folder of the file does not exist", async () => {
    const folder = await scratchFolder();
    await expect(writeOnce(join(folder, "missing", "image"), "bytes", folder)).rejects.toThrow("ENOENT");
    expect(await readdir(folder)).toEqual([]);
  });

  it("creates nothing when the temporary folder does not exist", async () => {
    const folder = await scratchFolder();
    await expect(writeOnce(join(folder, "image"), "bytes", join(folder, "missing"))).rejects.toThrow("ENOENT");
    expect(await readdir(folder)).toEqual([]);
  });

  it("writes to a separate temporary folder and does not change its other files", async () => {
    const folder = await scratchFolder();
    const incoming = join(folder, "incoming");
    await mkdir(incoming);
    await writeFile(join(incoming, "other.temporary"), "half");
    await writeOnce(join(folder, "image"), "bytes", incoming);
    expect(await readFile(join(folder, "image"), "utf8")).toBe("bytes");
    expect(await readdir(incoming)).toEqual(["other.temporary"]);
  });

  it("keeps the whole file of exactly one of 20 concurrent writers", async () => {
    const folder = await scratchFolder();
    const contents = Array.from({ length: 20 }, (_, writer) => Buffer.alloc(50_000, writer));
    const created = await Promise.all(contents.map((bytes) => writeOnce(join(folder, "image"), bytes)));
    expect(created.filter(Boolean)).toHaveLength(1);
    const winner = contents[created.indexOf(true)];
    expect(winner?.equals(await readFile(join(folder, "image")))).toBe(true);
    expect(await readdir(folder)).toEqual(["image"]);
  });

  it("never shows a part of the file to a concurrent reader", async () => {
    const folder = await scratchFolder();
    const path = join(folder, "image");
    for (let round = 0; round < 20; round += 1) {
      let written = false;
      const writing = writeOnce(path, Buffer.alloc(1_000_000, round)).finally(() => {
        written = true;
      });
      do {
        const size = await readFile(path).then(
          ({ length }) => length,
          () => 0,
        );
        expect([0, 1_000_000]).toContain(size);
      } while (!written);
      await writing;
      await rm(path);
    }
  });
});
