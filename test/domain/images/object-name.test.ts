import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IMAGE_TYPES } from "../../../domain/images/image-type.js";
import {
  generationName,
  isInObjectFolder,
  isReference,
  type ObjectName,
  objectName,
  panoramaName,
  panoramaOf,
  parseObjectName,
  referenceImageName,
  thumbnailNameOf,
} from "../../../domain/images/object-name.js";

const unguessable = fc
  .uint8Array({ minLength: 17, maxLength: 48 })
  .map((bytes) => Buffer.from(bytes).toString("base64url"));

describe("an object's name", () => {
  it("uses the extension of the reference image's type", () => {
    const random = "Unguessable-_0123456789";
    expect(referenceImageName(random, "image/jpeg")).toBe(`references/${random}.jpg`);
    expect(referenceImageName(random, "image/png")).toBe(`references/${random}.png`);
    expect(referenceImageName(random, "image/webp")).toBe(`references/${random}.webp`);
  });

  it("distinguishes reference images from panoramas", () => {
    expect(isReference(objectName(`references/${"b".repeat(22)}.jpg`))).toBe(true);
    expect(isReference(objectName(`panoramas/${"b".repeat(22)}.jpg`))).toBe(false);
    expect(isReference("panoramas/references/b.jpg" as ObjectName)).toBe(false);
  });

  it("is below one of two folders, for random spellings of its URL", () => {
    const isBelow = (url: string) => isInObjectFolder(url, (name) => `https://Cdn.example:443/a%20b/${name}`);
    for (const path of [
      `references/${"b".repeat(22)}.jpg`,
      "references/",
      "references/x.png?size=1#top",
      "panoramas/x/../y.jpg",
      "%70anoramas/x.jpg",
      "x/../panoramas/%",
    ]) {
      expect([path, isBelow(`https://cdn.example/a%20b/${path}`)]).toEqual([path, !path.endsWith("%")]);
    }
    for (const url of [
      "https://cdn.example/a%20b/reference.png",
      "https://cdn.example/references/x.png",
      "https://cdn.example:8443/a%20b/references/x.png",
      "http://cdn.example/a%20b/references/x.png",
      "https://cdn.example.evil.example/a%20b/references/x.png",
    ]) {
      expect([url, isBelow(url)]).toEqual([url, false]);
    }
  });

  it("puts a thumbnail beside its panorama", () => {
    const name = panoramaName("unguessable.jpg-0000000");
    expect(name).toBe("panoramas/unguessable.jpg-0000000.jpg");
    expect(thumbnailNameOf(name)).toBe("panoramas/unguessable.jpg-0000000-thumbnail.webp");
    expect([name, thumbnailNameOf(name)].map(panoramaOf)).toEqual([name, name]);
  });

  it("is parsed from a URL", () => {
    return fc.assert(
      fc.property(fc.constantFrom(...IMAGE_TYPES), unguessable, (type, random) => {
        const panorama = panoramaName(random);
        const reference = referenceImageName(random.slice(0, 22), type);
        const ends = ["jpg", "png", "webp", "json"].map((extension) => generationName(random, extension));
        for (const name of [reference, panorama, thumbnailNameOf(panorama), ...ends])
          expect(parseObjectName(name)).toBe(name);
      }),
    );
  });

  const random = "b".repeat(22);
  it.each([
    ["", "references/", "../service.sqlite", `/references/${random}.jpg`, `others/${random}.jpg`],
    [`references/${random}`, `references/${random}.gif`, `references/${random}.jpg\n`, `references/${random}.jpg/..`],
    [`references/${"b".repeat(44)}.jpg`, `references/${random.slice(1)}.jpg`, `references//${random}.jpg`],
    [`references/../panoramas/${random}.jpg`, `references\\${random}.jpg`, `references%2f${random}.jpg`],
    [`references/${random}-thumbnail.bin`, `panoramas/${random}.png`, `panoramas/${random.slice(1)}.jpg`],
    [`generations/${random}.html`, `generations/${random}`, `generations/${random.slice(1)}.json`],
    [`panoramas/${"b".repeat(65)}.jpg`, `panoramas/${random}.jpg\u0000.jpg`, "panoramas/../../etc/passwd.jpg"],
  ])("cannot be %j", (...texts) => {
    for (const text of texts) expect([text, parseObjectName(text)]).toEqual([text, undefined]);
  });

  it("never points outside its three folders", () => {
    const piece = fc.constantFrom(
      "references",
      "panoramas",
      "generations",
      "/",
      "..",
      ".",
      "\\",
      "%2e",
      "a".repeat(64),
      ".jpg",
    );
    return fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const name = parseObjectName(pieces.join(""));
        if (name !== undefined) expect(name).toMatch(/^(references|panoramas|generations)\/[^/\\%]+$/);
      }),
    );
  });
});
