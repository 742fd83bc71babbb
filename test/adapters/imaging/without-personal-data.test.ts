import sharp, { type Sharp } from "sharp";
import { describe, expect, it } from "vitest";
import { sharpImaging } from "../../../adapters/imaging/sharp-imaging.js";
import type { ImageType } from "../../../domain/images/image-type.js";
import { cutAt, jpegWithRestarts, pngChunk, withoutEnd, withPngChunk } from "../../support/damaged-pictures.js";
import { seamless } from "../../support/test-images.js";

const SIZE = { widthPixels: 64, heightPixels: 48 };
/** Told by every kind of metadata below. */
const SECRET = "Gartenweg 7";
const XMP = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:creator="${SECRET}"/></rdf:RDF></x:xmpmeta>`;
const GPS = { GPSLatitudeRef: "N", GPSLatitude: "48/1 8/1 13/1", GPSLongitudeRef: "E", GPSLongitude: "11/1 34/1 31/1" };

/** A photo as a phone makes it: turned, in a wide colour space, and with the place where it was taken. */
const photo = (orientation: number, artist = SECRET): Sharp =>
  seamless(SIZE)
    .withIccProfile("p3")
    .withExif({ IFD0: { Artist: artist, ImageDescription: SECRET }, IFD3: GPS })
    .withXmp(XMP)
    .withMetadata({ orientation });

const jpegSegment = (marker: number, text: string): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(2 + text.length);
  return Buffer.concat([Buffer.from([0xff, marker]), length, Buffer.from(text, "latin1")]);
};
/** With IPTC, a comment, segments of makers and what some cameras append. */
const withJpegSegments = (jpeg: Buffer): Buffer =>
  Buffer.concat([
    jpeg.subarray(0, 2),
    jpegSegment(0xed, `Photoshop 3.0\0 8BIM ${SECRET}`),
    jpegSegment(0xfe, SECRET),
    jpegSegment(0xe2, `MPF\0${SECRET}`),
    jpegSegment(0xeb, SECRET),
    jpeg.subarray(2),
    Buffer.from(`....ftypmp42 ${SECRET}`),
  ]);

const withPngTexts = (png: Buffer): Buffer =>
  Buffer.concat([
    ["tEXt", "iTXt", "zTXt", "tIME", "caBX", "prVt"].reduce(
      (bytes, type) => withPngChunk(type, Buffer.from(`Author\0${SECRET}`))(bytes),
      png,
    ),
    Buffer.from(SECRET),
  ]);

const withWebpChunk = (webp: Buffer): Buffer => {
  const chunk = Buffer.concat([Buffer.from("C2PA\0\0\0\0"), Buffer.from(SECRET.padEnd(12))]);
  chunk.writeUInt32LE(12, 4);
  const whole = Buffer.concat([webp, chunk]);
  whole.writeUInt32LE(whole.length - 8, 4);
  return whole;
};

const PHOTOS = {
  jpeg: async (orientation: number) => withJpegSegments(await photo(orientation).jpeg().toBuffer()),
  png: async (orientation: number) => withPngTexts(await photo(orientation).png().toBuffer()),
  webp: async (orientation: number) => withWebpChunk(await photo(orientation).webp().toBuffer()),
};
const FORMATS = ["jpeg", "png", "webp"] as const;

const imaging = sharpImaging();
const cleaned = async (bytes: Buffer, format: (typeof FORMATS)[number]): Promise<Buffer> =>
  Buffer.from(await imaging.withoutPersonalData(bytes, `image/${format}` satisfies ImageType));

describe("withoutPersonalData", () => {
  it.each(FORMATS)("takes place, names and comments out of a %s, and leaves its pixels", async (format) => {
    for (const orientation of [1, 6]) {
      const given = await PHOTOS[format](orientation);
      expect(given.toString("latin1")).toContain(SECRET);
      const bytes = await cleaned(given, format);
      expect(bytes.toString("latin1")).not.toMatch(/Gartenweg|GPS|Photoshop|MPF|xmp|C2PA|ftyp/i);
      const { icc, exif, xmp, iptc, comments, orientation: kept = 1, ...header } = await sharp(bytes).metadata();
      expect([kept, header]).toMatchObject([orientation, { format, width: 64, height: 48 }]);
      expect([xmp, iptc, comments, exif?.includes("Artist") ?? false]).toEqual([
        undefined,
        undefined,
        undefined,
        false,
      ]);
      expect(icc).toEqual((await sharp(given).metadata()).icc);
      for (const pixels of [(image: Sharp) => image, (image: Sharp) => image.autoOrient()]) {
        const raw = (of: Buffer) =>
          pixels(sharp(of, { failOn: "warning" }))
            .raw()
            .toBuffer();
        expect(await raw(bytes)).toEqual(await raw(given));
      }
    }
  });

  it.each(FORMATS)("returns a %s without metadata unchanged, and is idempotent", async (format) => {
    const bare = await seamless(SIZE).toFormat(format).toBuffer();
    expect(await cleaned(bare, format)).toEqual(bare);
    const once = await cleaned(await PHOTOS[format](8), format);
    expect(await cleaned(once, format)).toEqual(once);
  });

  it.each(FORMATS)("makes the same of two %s files that differ in their metadata only", async (format) => {
    const other = await photo(1, "somebody else").toFormat(format).toBuffer();
    expect(await cleaned(await PHOTOS[format](1), format)).toEqual(await cleaned(other, format));
  });

  it("keeps transparency, palette, animation, Adobe colours and progressive scans", async () => {
    const decoded = (bytes: Buffer) => sharp(bytes, { pages: -1 }).raw().toBuffer({ resolveWithObject: true });
    const files = [
      ["png", await seamless(SIZE).png({ palette: true }).toBuffer()],
      ["png", await seamless(SIZE).ensureAlpha(0.5).png({ progressive: true }).toBuffer()],
      ["webp", await seamless(SIZE).ensureAlpha(0.5).withXmp(XMP).webp().toBuffer()],
      [
        "webp",
        await sharp([await seamless(SIZE).png().toBuffer(), await seamless(SIZE).negate().png().toBuffer()], {
          join: { animated: true },
        })
          .withXmp(XMP)
          .webp()
          .toBuffer(),
      ],
      ["jpeg", await seamless(SIZE).toColourspace("cmyk").withXmp(XMP).jpeg().toBuffer()],
      ["jpeg", await seamless(SIZE).withXmp(XMP).jpeg({ progressive: true }).toBuffer()],
    ] as const;
    for (const [format, bytes] of files) {
      const clean = await cleaned(bytes, format);
      expect(clean.toString("latin1")).not.toContain("Gartenweg");
      expect(await decoded(clean)).toEqual(await decoded(bytes));
    }
  });

  it("takes metadata out of a jpeg behind its first scan, and thumbnails", async () => {
    const bare = await seamless(SIZE).withIccProfile("p3").jpeg({ progressive: true }).toBuffer();
    const jfif = Buffer.concat([jpegSegment(0xe0, `JFIF\0\x01\x01\0\0\x01\0\x01\x02\x01${SECRET.slice(0, 6)}`)]);
    const adobe = "Adobe\0\x64\0\0\0\0\x01";
    const hidden = [
      ...[jpegSegment(0xe1, `Exif\0\0 ${SECRET}`), jpegSegment(0xe1, `http://ns.adobe.com/xap/1.0/\0${SECRET}`)],
      ...[jpegSegment(0xfe, SECRET), jpegSegment(0xe2, `ICC_PROFILE\0${SECRET}`), jpegSegment(0xe0, `JFXX\0${SECRET}`)],
      ...[jfif, jpegSegment(0xee, adobe + SECRET), jpegSegment(0xed, SECRET)],
    ];
    const scans = [...bare.keys()].filter((at) => bare[at] === 0xff && bare[at + 1] === 0xda);
    expect(scans.length).toBeGreaterThan(3);
    for (const at of [...scans.slice(1), bare.length - 2]) {
      const behindOthers = hidden.flatMap((segment) => [segment, Buffer.of(0xff, 0xff, 0x01), Buffer.of(0xff, 0xff)]);
      for (const segment of [...hidden, Buffer.concat(behindOthers)]) {
        const given = Buffer.concat([bare.subarray(0, at), segment, bare.subarray(at), Buffer.from(SECRET)]);
        const clean = await cleaned(given, "jpeg");
        expect(clean.toString("latin1")).not.toMatch(/Garten|JFXX|xap/);
        expect(clean.filter((byte) => byte !== 0xff)).toEqual(bare.filter((byte) => byte !== 0xff));
      }
    }
    const start = bare.subarray(0, 2);
    const front = [
      jfif,
      jpegSegment(0xee, adobe + SECRET),
      jpegSegment(0xee, "Adobe"),
      jpegSegment(0xe0, "JFIF\0Gart"),
    ];
    const clean = await cleaned(Buffer.concat([start, ...front, bare.subarray(2)]), "jpeg");
    const small = jpegSegment(0xe0, "JFIF\0\x01\x01\0\0\x01\0\x01\0\0");
    expect(clean).toEqual(Buffer.concat([start, small, jpegSegment(0xee, adobe), bare.subarray(2)]));
  });

  it("takes unknown chunks out of the frames of a webp, and what is behind its end", async () => {
    const frames = [
      await seamless(SIZE).png().toBuffer(),
      await seamless(SIZE).negate().ensureAlpha(0.5).png().toBuffer(),
    ];
    const bare = await sharp(frames, { join: { animated: true } })
      .webp()
      .toBuffer();
    const unknown = withWebpChunk(Buffer.alloc(12)).subarray(12);
    for (const inFrame of [unknown, Buffer.concat([unknown, unknown]), Buffer.from("Garten")]) {
      const parts: Buffer[] = [];
      for (let at = 12, end = 0; at < bare.length; at = end) {
        const length = bare.readUInt32LE(at + 4);
        end = at + 8 + length + (length % 2);
        const chunk = Buffer.from(bare.subarray(at, end));
        const isFrame = chunk.toString("latin1", 0, 4) === "ANMF";
        if (isFrame) chunk.writeUInt32LE(length + inFrame.length, 4);
        parts.push(chunk, ...(isFrame ? [inFrame] : []));
      }
      const given = Buffer.concat([bare.subarray(0, 12), ...parts]);
      given.writeUInt32LE(given.length - 8, 4);
      const behind = Buffer.concat([given, Buffer.from("ICCP\x0c\0\0\0"), Buffer.from(SECRET.padEnd(12))]);
      for (const bytes of [given, behind]) expect(await cleaned(bytes, "webp")).toEqual(bare);
      const cut = given.subarray(0, -inFrame.length - 200);
      expect((await cleaned(cut, "webp")).subarray(-100)).toEqual(cut.subarray(-100));
    }
  });

  it("leaves the pixels of damaged pictures", async () => {
    const size = { widthPixels: 256, heightPixels: 128 };
    const sources = [await seamless(size).jpeg({ progressive: true }).toBuffer(), jpegWithRestarts()];
    for (const source of sources) await sharp(source, { failOn: "warning" }).raw().toBuffer();
    let seed = 7;
    const random = () => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed / 2 ** 32;
    };
    let decoded = 0;
    for (let run = 0; run < 200; run += 1) {
      const jpeg = Buffer.from(sources[run % 2] ?? "");
      const from = jpeg.indexOf(Buffer.from([0xff, 0xda]));
      const at = from + Math.floor(random() * (jpeg.length - from));
      const marker = [0xe1, 0xfe, 0xd3, 0xd9, 0xff, 0x05, 0x01, 0xc4, 0xda, 0xed][Math.floor(random() * 10)] ?? 0;
      jpeg.set([0xff, marker, 0, Math.floor(random() * 90)].slice(0, jpeg.length - at), at);
      const given = random() < 0.2 ? jpeg.subarray(0, -Math.floor(random() * 900) - 1) : jpeg;
      const pixels = (bytes: Buffer) =>
        sharp(bytes, { failOn: "none" })
          .raw()
          .toBuffer()
          .catch(() => undefined);
      const before = await pixels(given);
      if (before === undefined) continue;
      decoded += 1;
      expect((await pixels(await cleaned(given, "jpeg")))?.equals(before), `${run} at ${at}: ${marker}`).toBe(true);
    }
    expect(decoded).toBeGreaterThan(150);
  });

  it("keeps the existing part of a damaged picture", async () => {
    const jpeg = await PHOTOS.jpeg(6);
    const end = jpeg.lastIndexOf(Buffer.from([0xff, 0xd9]));
    const cut = jpeg.subarray(0, end);
    expect((await cleaned(cut, "jpeg")).subarray(-200)).toEqual(cut.subarray(-200));
    const png = cutAt(0.9)(await photo(6).png().toBuffer());
    expect((await cleaned(png, "png")).subarray(-200)).toEqual(png.subarray(-200));
    expect((await cleaned(withoutEnd(await seamless(SIZE).png().toBuffer()), "png")).includes("IEND")).toBe(false);
    for (const [format, bytes] of [
      ["jpeg", Buffer.from([0xff, 0xd8, 0xff])],
      ["png", Buffer.concat([png.subarray(0, 8), pngChunk("IHDR", Buffer.alloc(9)).subarray(0, 9)])],
      ["webp", Buffer.from("RIFF\xff\xff\xff\xffWEBPVP8X\xff", "latin1")],
    ] as const) {
      expect((await cleaned(bytes, format)).length).toBeLessThanOrEqual(bytes.length);
    }
  });
});
