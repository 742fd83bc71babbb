import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { soundPicture } from "../../../adapters/system/sound-picture.js";
import {
  cutAt,
  pictures,
  pngChunk,
  withoutEnd,
  withPngChunk,
  withWrongSe,
  zeroedFrom,
} from "../../support/damaged-pictures.js";
import { bombPng, plain } from "../../support/test-images.js";

const SIZE = { widthPixels: 640, heightPixels: 480 };
const PICTURES = await pictures(SIZE);
const NAMES = Object.keys(PICTURES) as (keyof typeof PICTURES)[];
const { jpeg, png } = PICTURES;

/** The greatest difference of a colour in the upper 90 % of both pictures. */
const differenceOf = async (one: Uint8Array, other: Uint8Array): Promise<number> => {
  const part = { left: 0, top: 0, width: SIZE.widthPixels, height: SIZE.heightPixels * 0.9 };
  const pixels = (bytes: Uint8Array) =>
    sharp(bytes).toColourspace("srgb").flatten({ background: "white" }).extract(part).blur(2).raw().toBuffer();
  const [a, b] = [await pixels(one), await pixels(other)];
  return a.reduce((max, value, at) => Math.max(max, Math.abs(value - (b[at] ?? 0))), 0);
};

const expectMended = async (damaged: Buffer, whole: Buffer) => {
  const { type, bytes, size } = (await soundPicture(damaged))._unsafeUnwrap();
  expect([type, size]).toEqual(["image/jpeg", SIZE]);
  expect(damaged.equals(bytes)).toBe(false);
  await sharp(bytes, { failOn: "warning" }).stats();
  expect(await differenceOf(bytes, whole)).toBeLessThan(12);
};

describe("soundPicture", () => {
  it.each(NAMES)("returns a complete %s unchanged", async (name) => {
    const picture = PICTURES[name];
    const { bytes, size } = (await soundPicture(picture))._unsafeUnwrap();
    // `toEqual` takes seconds for so many bytes.
    expect([picture.equals(bytes), size]).toEqual([true, SIZE]);
  });

  it.each(NAMES)("encodes a %s anew of which the last rows are missing", async (name) => {
    await expectMended(cutAt(0.97)(PICTURES[name]), PICTURES[name]);
  });

  it.each(NAMES.filter((name) => name !== "progressive JPEG"))(
    "refuses a %s of which more than 5 %% of the rows are missing",
    async (name) => {
      for (const [share, missing] of [
        [0.5, /^about ([345678]\d) % of its rows are missing$/],
        [0.88, /^about ([6-9]|1\d) % of its rows are missing$/],
      ] as const) {
        expect((await soundPicture(cutAt(share)(PICTURES[name])))._unsafeUnwrapErr()).toMatch(missing);
      }
    },
  );

  it("uses a progressive JPEG that is cut off after its first scan: all its rows are there", async () => {
    const bytes = PICTURES["progressive JPEG"];
    const { bytes: mended } = (await soundPicture(cutAt(0.7)(bytes)))._unsafeUnwrap();
    expect(await differenceOf(mended, bytes)).toBeLessThan(60);
    const [first, second] = [...bytes.toString("latin1").matchAll(/\xff\xda/g)].map(({ index }) => index);
    const inFirst = bytes.subarray(0, ((first ?? 0) + (second ?? 0)) / 2);
    expect((await soundPicture(inFirst))._unsafeUnwrapErr()).toMatch(/^about [3-7]\d % of its rows are missing$/);
  });

  it.each(
    (
      [
        ["a JPEG without its last marker", withoutEnd(jpeg), jpeg],
        ["a JPEG with a wrong Se", withWrongSe(jpeg), jpeg],
        ["a JPEG with a wrong Se and without its last marker", withoutEnd(withWrongSe(jpeg)), jpeg],
        ["a JPEG whose last bytes are zeros", zeroedFrom(0.99)(jpeg), jpeg],
        ["a PNG without its last chunk", withoutEnd(png), png],
        ["a PNG with a wrong checksum of a text", withPngChunk("tEXt", Buffer.from("a\0b"), 1)(png), png],
        ["a PNG with a wrong checksum of its pixel density", withPngChunk("pHYs", Buffer.alloc(9), 1)(png), png],
        ["a PNG whose pixels have a wrong checksum", withWrongPixelChecksum(png), png],
      ] as const
    ).map(([name, damaged, whole]) => ({ name, expectation: () => expectMended(damaged, whole) })),
  )("encodes $name anew", ({ expectation }) => expectation());

  it("counts the rows of a JPEG that a download or a program has filled up", async () => {
    const ended = Buffer.concat([cutAt(0.5)(jpeg), Buffer.from([0xff, 0xd9])]);
    for (const damaged of [zeroedFrom(0.5)(jpeg), ended]) {
      expect((await soundPicture(damaged))._unsafeUnwrapErr()).toMatch(/^about [345678]\d % of its rows are missing$/);
    }
  });

  it("keeps the orientation of a re-encoded picture, and makes it smaller", async () => {
    const turned = await plain({ widthPixels: 5000, heightPixels: 300 })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const { bytes, size } = (await soundPicture(withoutEnd(turned)))._unsafeUnwrap();
    expect(size).toEqual({ widthPixels: 240, heightPixels: 4000 });
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 240, height: 4000 });
  });

  it("takes little time and memory for a damaged PNG of many pixels, and for files of tiny parts", async () => {
    const large = bombPng({ widthPixels: 8001, heightPixels: 5000 });
    expect((await soundPicture(large)).isOk()).toBe(true);
    expect((await soundPicture(withoutEnd(large)))._unsafeUnwrapErr()).toBe(
      "it is damaged, and has more than 40 megapixels, the most of a damaged PNG",
    );
    const chunks = Buffer.concat([png.subarray(0, 33), ...Array(200_000).fill(pngChunk("IDAT", Buffer.alloc(0)))]);
    expect((await soundPicture(chunks))._unsafeUnwrapErr()).toBe("about 100 % of its rows are missing");
    const segments = Buffer.concat([jpeg.subarray(0, 2), Buffer.alloc(4_000_000, Buffer.from([0xff, 0xe1, 0, 2]))]);
    expect((await soundPicture(segments))._unsafeUnwrapErr()).toMatch(/^it cannot be decoded: /);
  });

  it("refuses a file that is not a picture", async () => {
    for (const [file, kind] of [
      ["<html>", "an HTML page (such as a login), "],
      ["\ufeff\r\n<!DOCTYPE html>\n<title>Log in</title>", "an HTML page (such as a login), "],
      ["<!-- proxy -->\n<HTML lang=en>", "an HTML page (such as a login), "],
      ['<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0"><html>', "an HTML page (such as a login), "],
      ['<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>', "an SVG picture, "],
      ['<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "an XML document, "],
      ['{"error":"expired"}', "a JSON document, "],
      ["\0\0\0\x18ftypheic\0\0\0\0mif1heic", "a HEIC picture, "],
      ["\0\0\0\x1cftypmif1\0\0\0\0mif1heic", "a HEIC picture, "],
      ["\0\0\0\x1cftypavif\0\0\0\0avifmif1", "an AVIF picture, "],
      ["\0\0\0\x20ftypisom\0\0\0\0isomiso2", "a video, "],
      ["GIF89a", "a GIF picture, "],
      ["%PDF-1.7", "a PDF document, "],
      ["log in first", ""],
    ]) {
      const refused = await soundPicture(Buffer.from(file ?? ""));
      expect(refused._unsafeUnwrapErr()).toBe(`it is ${kind}neither JPEG, PNG nor WebP`);
    }
    const inUtf16 = Buffer.from("\ufeff<html>", "utf16le");
    expect((await soundPicture(inUtf16))._unsafeUnwrapErr()).toMatch(/^it is an HTML page /);
    expect((await soundPicture(Buffer.alloc(0)))._unsafeUnwrapErr()).toBe("it is empty");
    for (const bytes of [
      cutAt(0.01)(jpeg),
      png.subarray(0, 20),
      Buffer.concat([png.subarray(0, 8), Buffer.from("?")]),
    ]) {
      expect((await soundPicture(bytes))._unsafeUnwrapErr()).toMatch(/^it cannot be decoded: |rows are missing$/);
    }
  });
});

function withWrongPixelChecksum(bytes: Buffer): Buffer {
  const damaged = Buffer.from(bytes);
  const at = damaged.length - 12 - 5;
  damaged[at] = (damaged[at] ?? 0) ^ 1;
  return damaged;
}
