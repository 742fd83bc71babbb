import { ok } from "neverthrow";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { picturesOnDemand } from "../../../../adapters/imaging/pictures-on-demand.js";
import { signPictures } from "../../../../adapters/imaging/provenance/sign-picture.js";
import { makeSigningPair } from "../../../../adapters/imaging/provenance/signing-pair.js";
import { sharpImaging } from "../../../../adapters/imaging/sharp-imaging.js";
import type { ObjectName } from "../../../../domain/images/object-name.js";
import type { DigitalSourceType } from "../../../../domain/images/source-type.js";
import { verifiedProvenance } from "../../../support/verify-provenance.js";

const pair = await makeSigningPair(new Date());
const sign = signPictures(async () => pair);
const imaging = sharpImaging(sign);
const NAME = "panoramas/0000000000000000000000.jpg" as ObjectName;
const generated = await sharp({
  create: {
    width: 512,
    height: 256,
    channels: 3,
    background: "#357",
    noise: { type: "gaussian", mean: 120, sigma: 30 },
  },
})
  .jpeg()
  .toBuffer();

/** Every file that the service makes of a generated picture. */
const filesOf = async (bytes: Uint8Array, sourceType: DigitalSourceType) => {
  const size = { widthPixels: 1024, heightPixels: 512 };
  const { bytes: panorama } = (await imaging.panorama(bytes, size, sourceType))._unsafeUnwrap();
  const storage = { read: async () => ok(panorama) };
  const pictures = picturesOnDemand(storage, sign);
  return {
    panorama,
    social: (await pictures.socialImage(NAME, { widthPixels: 600, heightPixels: 315 }, { yaw: 40, pitch: 5 }, ""))!,
    thumbnail: (await imaging.thumbnail(panorama))._unsafeUnwrap(),
    copy: (await pictures.resized(NAME, 512, ""))!,
    tile: (await pictures.tile(NAME, 480, { yaw: 40, pitch: 5 }, ""))!,
  };
};

describe("every file of a panorama", () => {
  it.each(["trainedAlgorithmicMedia", "compositeWithTrainedAlgorithmicMedia", "algorithmicMedia"] as const)(
    "has a valid manifest, and %s in manifest and XMP",
    async (sourceType) => {
      const url = `http://cv.iptc.org/newscodes/digitalsourcetype/${sourceType}`;
      for (const [name, file] of Object.entries(await filesOf(generated, sourceType))) {
        const type = name === "thumbnail" || name === "copy" ? "image/webp" : "image/jpeg";
        const action = { digitalSourceType: url };
        expect(await verifiedProvenance(file, type), name).toMatchObject({ state: "Valid", action });
        expect((await sharp(file).metadata()).xmp?.toString(), name).toContain(`DigitalSourceType="${url}"`);
      }
    },
  );

  it("keeps the provider's manifest in panorama and social image", async () => {
    const provider = signPictures(async () => makeSigningPair(new Date()));
    const sourceType = "trainedAlgorithmicMedia";
    const { panorama, social, thumbnail } = await filesOf(await provider(generated, { sourceType }), sourceType);
    expect(await verifiedProvenance(panorama)).toMatchObject({ state: "Valid", ingredients: 1, manifests: 2 });
    expect(await verifiedProvenance(social)).toMatchObject({ state: "Valid", ingredients: 1, manifests: 3 });
    expect(await verifiedProvenance(thumbnail, "image/webp")).toMatchObject({ state: "Valid", manifests: 1 });
  });

  it("gets the same bytes again from the same input", async () => {
    const files = await filesOf(generated, "trainedAlgorithmicMedia");
    expect(await filesOf(generated, "trainedAlgorithmicMedia")).toEqual(files);
  });

  it("is not made if it cannot be signed, and the picture is not blamed", async () => {
    const broken = sharpImaging(async () => {
      throw new Error("no key");
    });
    await expect(broken.panorama(generated, { widthPixels: 512, heightPixels: 256 })).rejects.toThrow("no key");
    await expect(broken.thumbnail(generated)).rejects.toThrow("no key");
  });
});
