import { ok } from "neverthrow";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import {
  GENERATIONS,
  generationName,
  type ObjectName,
  panoramaName,
  referenceImageName,
  thumbnailNameOf,
} from "../../domain/images/object-name.js";
import { expect } from "./support/expect.js";
import type { TestFunctions } from "./support/test-functions.js";

/** The behaviour of every object storage. `open` returns an empty one. */
export const objectStorageContract = (
  { describe, it }: Pick<TestFunctions, "describe" | "it">,
  open: () => Promise<ObjectStorage>,
): void => {
  const reference = referenceImageName("0f".repeat(11), "image/png");
  const panorama = panoramaName("A".repeat(22));
  const names = [reference, panorama, thumbnailNameOf(panorama)];

  describe("ObjectStorage contract", () => {
    it("reads exactly the bytes that were put", async () => {
      const storage = await open();
      for (const [index, name] of names.entries()) {
        const bytes = Uint8Array.from({ length: 70_000 + index }, (_, at) => (at * 31 + index) % 256);
        expect((await storage.put(name, bytes, "image/png")).isOk()).toBe(true);
        const read = (await storage.read(name))._unsafeUnwrap();
        expect(Buffer.compare(read, bytes)).toBe(0);
      }
    });

    it("returns not_found for an object that was never put", async () => {
      const storage = await open();
      await storage.put(reference, Buffer.from("a"), "image/png");
      expect((await storage.read(panorama))._unsafeUnwrapErr().kind).toBe("not_found");
    });

    it("keeps the first object when the same name is put again, and reports success", async () => {
      const storage = await open();
      await storage.put(panorama, Buffer.from("first"), "image/jpeg");
      expect((await storage.put(panorama, Buffer.from("second"), "image/jpeg")).isOk()).toBe(true);
      expect(Buffer.from((await storage.read(panorama))._unsafeUnwrap()).toString()).toBe("first");
    });

    it("deletes only the named object; deleting a missing object succeeds", async () => {
      const storage = await open();
      for (const name of names) await storage.put(name, Buffer.from(name), "image/png");
      for (const attempt of [1, 2]) expect([attempt, (await storage.delete(panorama)).isOk()]).toEqual([attempt, true]);
      expect((await storage.read(panorama))._unsafeUnwrapErr().kind).toBe("not_found");
      expect((await storage.read(reference)).isOk()).toBe(true);
      expect((await storage.read(thumbnailNameOf(panorama))).isOk()).toBe(true);
      await storage.put(panorama, Buffer.from("again"), "image/png");
      expect(Buffer.from((await storage.read(panorama))._unsafeUnwrap()).toString()).toBe("again");
    });

    it("returns true from has for a stored object, otherwise false", async () => {
      const storage = await open();
      await storage.put(panorama, Buffer.from("bytes"), "image/jpeg");
      expect(await storage.has(panorama)).toEqual(ok(true));
      expect(await storage.has(reference)).toEqual(ok(false));
      await storage.delete(panorama);
      expect(await storage.has(panorama)).toEqual(ok(false));
    });

    it("lists the names that begin with a prefix, as soon as they are stored", async () => {
      const storage = await open();
      expect(await storage.list(GENERATIONS)).toEqual(ok([]));
      const [picture, failure] = [generationName("g".repeat(22), "jpg"), generationName("h".repeat(22), "json")];
      for (const name of [...names, picture, failure]) await storage.put(name, Buffer.from(name), "image/png");
      expect((await storage.list(GENERATIONS))._unsafeUnwrap().sort()).toEqual([picture, failure]);
      expect(await storage.list(picture.slice(0, -3))).toEqual(ok([picture]));
      expect(storage.nameOf(storage.urlOf(picture))).toBe(picture);
      await storage.delete(picture);
      expect(await storage.list(GENERATIONS)).toEqual(ok([failure]));
    });

    it("keeps the object of one of 20 concurrent writers and reports success to all", async () => {
      const storage = await open();
      const contents = Array.from({ length: 20 }, (_, writer) => Buffer.alloc(50_000, writer));
      const puts = await Promise.all(contents.map((bytes) => storage.put(panorama, bytes, "image/jpeg")));
      expect(puts.every((put) => put.isOk())).toBe(true);
      const kept = Buffer.from((await storage.read(panorama))._unsafeUnwrap());
      expect(contents.some((bytes) => bytes.equals(kept))).toBe(true);
    });

    it("gives reference images https URLs, and nameOf reverses urlOf", async () => {
      const storage = await open();
      expect(storage.urlOf(reference)).toMatch(/^https:\/\//);
      for (const name of names) expect(storage.nameOf(storage.urlOf(name))).toBe(name);
    });

    it("returns no name for a URL that only resembles one of its own", async () => {
      const storage = await open();
      for (const name of names)
        for (const url of lookalikes(storage, name)) expect(storage.nameOf(url)).toBeUndefined();
    });
  });
};

const lookalikes = (storage: ObjectStorage, name: ObjectName): string[] => {
  const url = storage.urlOf(name);
  const { origin, host, protocol } = new URL(url);
  const path = url.slice(origin.length);
  return [
    "",
    name,
    `${origin}.evil.example${path}`,
    `${protocol}//evil.example/${host}${path}`,
    `${protocol}//${host}@evil.example${path}`,
    `${protocol}//user@${host}${path}`,
    `${url}?size=1`,
    `${url}#top`,
    `${url}/`,
    `${url}.png`,
    ` ${url}`,
    `${url}\n`,
    url.replace(`/${name}`, `//${name}`),
    url.replace(`/${name}`, `/x/../${name}`),
    url.replace(`/${name}`, `/${name.replace("/", "%2f")}`),
    url.replace(`/${name}`, `/${name.replace("/", "/../")}`),
    url.replace(`/${name}`, `/other/${name}`),
    url.replace(name, "panoramas/..%2f..%2fetc%2fpasswd"),
    url.replace(name, "references/abc.png"),
  ];
};
