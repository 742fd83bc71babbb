import sharp, { type Sharp } from "sharp";
import { describe, expect, it } from "vitest";
import { SEAM_VISIBLE } from "../../../adapters/imaging/seam.js";
import { sharpImaging } from "../../../adapters/imaging/sharp-imaging.js";
import { type PixelSize, RESOLUTIONS } from "../../../domain/images/resolution.js";
import { bombPng, noise, plain, seamless, withSeam } from "../../support/test-images.js";
import { pixels, pixelsOf, rawOf, size, small, target } from "./raw-pictures.js";

const imaging = sharpImaging();

/** The JPEG that is made of these bytes. */
const panorama = async (bytes: Uint8Array, wanted: PixelSize = target): Promise<Uint8Array> =>
  (await imaging.panorama(bytes, wanted))._unsafeUnwrap().bytes;

const refusal = async (bytes: Uint8Array): Promise<string> => {
  const { kind, reason } = (await imaging.panorama(bytes, target))._unsafeUnwrapErr();
  expect(kind).toBe("unusable_image");
  return reason;
};

/** The value of the property `name` in the image's XMP. */
const xmpValue = async (image: Uint8Array, name: string): Promise<string | undefined> => {
  const { xmpAsString = "" } = await sharp(image).metadata();
  return new RegExp(`${name}="([^"]*)"`).exec(xmpAsString)?.[1];
};

const SIGNATURE = Buffer.from([0xff, 0xd8, 0xff]);
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"/>');

/** What is no JPEG, PNG or WebP. */
const OTHERS: Readonly<Record<string, () => Promise<Buffer>>> = {
  "a GIF": () => plain(small).gif().toBuffer(),
  "a page": async () => Buffer.from("<!doctype html><title>Too many requests</title>"),
  "a signature alone": async () => SIGNATURE,
  "an SVG after a signature": async () => Buffer.concat([SIGNATURE, SVG]),
  "a GIF after the signature of PNG": async () =>
    Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), await plain(small).gif().toBuffer()]),
};

describe("SharpImaging.panorama", () => {
  it.each([
    ["1k", small],
    ["2k", size(2047, 1030)], // a little off 2:1
    ["4k", RESOLUTIONS["4k"]],
    ["4k", size(6144, 3072)],
  ] as const)(
    "makes a %s JPEG with Photo Sphere XMP of its real size from an image of %j",
    async (resolution, given) => {
      const wanted = RESOLUTIONS[resolution];
      const made = await panorama(await plain(given).jpeg().toBuffer(), wanted);
      const { widthPixels: width, heightPixels: height } = wanted;
      expect(await sharp(made).metadata()).toMatchObject({ format: "jpeg", width, height, channels: 3 });
      const expected = {
        "GPano:ProjectionType": "equirectangular",
        "GPano:UsePanoramaViewer": "True",
        "GPano:FullPanoWidthPixels": String(width),
        "GPano:FullPanoHeightPixels": String(height),
        "GPano:CroppedAreaImageWidthPixels": String(width),
        "GPano:CroppedAreaImageHeightPixels": String(height),
        "GPano:CroppedAreaLeftPixels": "0",
        "GPano:CroppedAreaTopPixels": "0",
        "GPano:PoseHeadingDegrees": "0",
        "Iptc4xmpExt:DigitalSourceType": "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia",
      };
      for (const [name, value] of Object.entries(expected))
        expect([name, await xmpValue(made, name)]).toEqual([name, value]);
    },
  );

  it("puts the XMP into one APP1 segment before the image data", async () => {
    const made = await panorama(await plain(small).png().toBuffer(), target);
    const bytes = Buffer.from(made);
    const at = bytes.indexOf("http://ns.adobe.com/xap/1.0/\0", 0, "latin1");
    expect(bytes.readUInt16BE(at - 4)).toBe(0xffe1);
    expect(bytes.subarray(at + 29, at + 29 + bytes.readUInt16BE(at - 2) - 31).toString()).toMatch(
      /^<\?xpacket begin="\uFEFF".*<\?xpacket end="w"\?>$/s,
    );
    expect(at).toBeLessThan(bytes.indexOf(Buffer.from([0xff, 0xda])));
  });

  // Rotated by 180°, the seam is in the middle of the image, where the filter is not at an edge.
  it.each([size(1024, 512), size(1500, 750), size(1560, 780), size(256, 128), size(64, 32)])(
    "makes no seam at the left and right edge when it resizes from $widthPixels × $heightPixels to 512 × 256",
    async (from) => {
      const wanted = size(512, 256);
      const rotated = async (rotatedColumns: number) => {
        const source = await noise(from, rotatedColumns).png({ compressionLevel: 0 }).toBuffer();
        return pixelsOf(await panorama(source, wanted));
      };
      const at = await rotated(0);
      const atRotated = await rotated(from.widthPixels / 2);
      const width = wanted.widthPixels;
      for (const x of [0, 1, 2, width - 3, width - 2, width - 1]) {
        let difference = 0;
        for (let y = 0; y < wanted.heightPixels; y += 1) {
          difference += Math.abs((at(x, y)[1] ?? 0) - (atRotated((x + width / 2) % width, y)[1] ?? 0));
        }
        expect(difference / wanted.heightPixels, `mean difference in column ${x}`).toBeLessThan(1.7);
      }
    },
  );

  it("does not resize an image of the target size, blends nothing without a seam, and encodes with quality 90", async () => {
    const source = seamless(target);
    const made = await rawOf(sharp(await panorama(await source.png().toBuffer())));
    const expected = await rawOf(sharp(await source.jpeg({ quality: 90 }).toBuffer()));
    expect(Buffer.from(made.data).equals(expected.data)).toBe(true);
  });

  const near = (colour: number[], wanted: number[]) => {
    expect(colour).toHaveLength(wanted.length);
    for (const [channel, value] of wanted.entries()) expect(Math.abs((colour[channel] ?? 0) - value)).toBeLessThan(16);
  };

  it.each([
    ["JPEG", () => plain(small, "#c86432").jpeg({ quality: 95 }), [200, 100, 50]],
    ["WebP", () => plain(small, "#c86432").webp({ lossless: true }), [200, 100, 50]],
    ["palette PNG", () => plain(small, "#c86432").png({ palette: true }), [200, 100, 50]],
    ["CMYK JPEG", () => plain(small, "#808080").toColourspace("cmyk").jpeg({ quality: 95 }), [128, 128, 128]],
    ["16-bit PNG", () => plain(small, "#c86432").toColourspace("rgb16").png(), [200, 100, 50]],
    ["grey JPEG", () => plain(small, "#777777").toColourspace("b-w").jpeg(), [119, 119, 119]],
    ["16-bit grey PNG", () => plain(small, "#777777").toColourspace("grey16").png(), [119, 119, 119]],
    ["half transparent PNG", () => plain(small, "#c86432").ensureAlpha(0.5).png(), [100, 50, 25]],
    ["fully transparent WebP", () => plain(small, "#c86432").ensureAlpha(0).webp(), [0, 0, 0]],
  ])("makes an image with three channels and the right colours from a %s", async (_, source, colour) => {
    const made = await panorama(await source().toBuffer(), target);
    near((await pixelsOf(made))(target.widthPixels / 2, target.heightPixels / 2), colour);
  });

  it("measures the picture before it is resized, and blends a visible seam only", async () => {
    const given = size(2047, 1030);
    const measured = async (picture: Sharp) =>
      (await imaging.panorama(await picture.png().toBuffer(), target))._unsafeUnwrap();
    const { nativeSize, seam, seamRatio, bytes } = await measured(withSeam(given, 40));
    expect([nativeSize, seam > 25, seamRatio > 35]).toEqual([given, true, true]);
    const blended = await measured(sharp(bytes));
    expect([blended.seam <= SEAM_VISIBLE, blended.seamRatio < seamRatio / 5]).toEqual([true, true]);
    // Its edges differ in every pixel, which is no seam.
    const rough = noise(target, 0);
    const [source, result] = [pixels(await rawOf(rough)), await pixelsOf((await measured(rough)).bytes)];
    const rows = Array.from({ length: target.heightPixels }, (_, y) => y);
    const differences = rows.map((y) => Math.abs((source(0, y)[1] ?? 0) - (result(0, y)[1] ?? 0)));
    expect(differences.reduce((sum, one) => sum + one, 0) / rows.length).toBeLessThan(8);
  });

  it.each<[string, () => Sharp, boolean]>([
    ["a black JPEG", () => plain(target, "black").jpeg(), true],
    ["a grey WebP", () => plain(target, "#777777").webp(), true],
    ["a transparent PNG", () => plain(target).ensureAlpha(0).png(), true],
    ["a black picture with one bright dot", () => dotted(), false],
    ["a panorama", () => seamless(target).jpeg(), false],
  ])("finds that %s is flat or not", async (_, picture, flat) => {
    const { isFlat } = (await imaging.panorama(await picture().toBuffer(), target))._unsafeUnwrap();
    expect(isFlat).toBe(flat);
  });

  /** The dot is at no pixel that is looked at first. */
  const dotted = (): Sharp => {
    const input = { create: { width: 3, height: 3, channels: 3 as const, background: "white" } };
    return plain(target, "black")
      .composite([{ input, left: 505, top: 245 }])
      .png();
  };

  it("applies the EXIF orientation and removes all EXIF data", async () => {
    const upright = seamless(small);
    const turned = await upright
      .rotate(270)
      .withExif({ IFD0: { Copyright: "Ann" } })
      .withMetadata({ orientation: 6 })
      .jpeg({ quality: 95 })
      .toBuffer();
    expect(await sharp(turned).metadata()).toMatchObject({ width: 128, height: 256 });
    const made = await panorama(turned);
    const [, , blueAbove = 0] = (await pixelsOf(made))(300, 20);
    const [, , blueBelow = 0] = (await pixelsOf(made))(300, 490);
    expect(blueAbove - blueBelow).toBeGreaterThan(150);
    expect((await sharp(made).metadata()).exif).toBeUndefined();
  });

  it.each([
    ["2:1.05", size(1000, 525)],
    ["square", size(512, 512)],
    ["1:2", size(256, 512)],
    ["cubemap strip", size(1536, 256)],
  ])("rejects a %s image because it is not 2:1", async (_, given) => {
    expect(await refusal(await plain(given).png().toBuffer())).toContain("not 2:1");
  });

  it("accepts an image within 1 % of 2:1", async () => {
    for (const given of [size(1000, 504), size(1000, 496)]) {
      expect((await imaging.panorama(await plain(given).png().toBuffer(), target)).isOk()).toBe(true);
    }
  });

  it("accepts an image of 8192 × 4096 pixels and rejects a larger one", async () => {
    expect((await imaging.panorama(bombPng(size(8192, 4096)), target)).isOk()).toBe(true);
    expect(await refusal(bombPng(size(8194, 4097)))).toContain("more than 8192 × 4096");
    const bomb = bombPng(size(30_000, 30_000)); // by its header: to decode it takes a minute
    expect(await refusal(bomb)).toBe("it has 30000 × 30000 pixels, more than 120 megapixels");
  });

  it.each(["jpeg", "png", "webp"] as const)("rejects a truncated %s file", async (format) => {
    const whole = await seamless(size(512, 256)).toFormat(format).toBuffer();
    for (const share of [0.01, 0.1, 0.3, 0.5, 0.8, 0.95]) {
      expect(await refusal(whole.subarray(0, Math.floor(whole.length * share)))).toMatch(/cannot be decoded|neither/);
    }
  });

  it.each(Object.entries(OTHERS))("rejects %s", async (_, make) => {
    const bytes = await make();
    expect(await refusal(bytes)).toMatch(/neither|cannot/);
    expect((await imaging.thumbnail(bytes))._unsafeUnwrapErr().kind).toBe("unusable_image");
    expect((await imaging.inspect(bytes)).isErr()).toBe(true);
  });
});

describe("SharpImaging.thumbnail", () => {
  it("makes a WebP of 1024 × 512 pixels and less than 60 kB, with the source type of the panorama", async () => {
    const made = await panorama(await seamless(target).png().toBuffer(), target);
    const thumbnail = (await imaging.thumbnail(made))._unsafeUnwrap();
    expect(await sharp(thumbnail).metadata()).toMatchObject({ format: "webp", width: 1024, height: 512 });
    const xmp = (await sharp(thumbnail).metadata()).xmp?.toString();
    expect(xmp).toContain("digitalsourcetype/trainedAlgorithmicMedia");
    expect(xmp).not.toContain("GPano");
    expect(thumbnail.length).toBeLessThan(60_000);
  });
});

describe("SharpImaging.inspect", () => {
  it("returns the size after the EXIF orientation is applied", async () => {
    const bytes = await plain(size(40, 30)).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    expect((await imaging.inspect(bytes))._unsafeUnwrap()).toEqual(size(30, 40));
  });

  it("accepts 120 megapixels and rejects more, with the size of the image", async () => {
    const largest = size(12_000, 10_000);
    expect((await imaging.inspect(bombPng(largest)))._unsafeUnwrap()).toEqual(largest);
    expect((await imaging.inspect(bombPng(size(12_001, 10_000))))._unsafeUnwrapErr()).toEqual({
      kind: "unusable_image",
      reason: "it has 12001 × 10000 pixels, more than 120 megapixels",
    });
  });

  it.each(["jpeg", "png"] as const)(
    "rejects a %s above 40 megapixels that must be decoded as a whole",
    async (format) => {
      const bytes = await plain(size(8_001, 5_000)).toFormat(format, { progressive: true }).toBuffer();
      expect((await imaging.inspect(bytes))._unsafeUnwrapErr()).toEqual({
        kind: "unusable_image",
        reason: "it has 8001 × 5000 pixels, more than 40 megapixels, the most of a progressive or interlaced image",
      });
    },
  );
});
