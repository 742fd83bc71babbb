import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sharpImaging } from "../../../../adapters/imaging/sharp-imaging.js";
import { ReferenceImages } from "../../../../adapters/provider/local/reference-images.js";
import { PublicFetch } from "../../../../adapters/provider/public-fetch.js";
import { panoramaCanvas } from "../../../../adapters/provider/remote/images/panorama-canvas.js";
import { dataUriOf, referenceFile } from "../../../../adapters/provider/remote/images/reference-input.js";
import { smallerReference } from "../../../../adapters/provider/remote/images/smaller-reference.js";
import { sphereCanvas } from "../../../../adapters/provider/remote/images/sphere-canvas.js";
import { cutAt, pictures, withWrongSe } from "../../../support/damaged-pictures.js";
import { type Customer, HttpService } from "../../../support/http-service.js";

const PICTURES = await pictures({ widthPixels: 400, heightPixels: 300 });
const { jpeg, png, webp } = PICTURES;

/** What uploads keep of pictures that browsers show. */
const SHOWN = {
  "a JPEG of a Samsung phone": withWrongSe(jpeg),
  "a PNG cut off in its last rows": cutAt(0.97)(png),
  "a WebP cut off in its last rows": cutAt(0.97)(webp),
};
const REFUSED = {
  "a JPEG cut in half": [cutAt(0.5)(jpeg), /about [345678]\d % of its rows are missing/],
  "a WebP cut in half": [cutAt(0.5)(webp), /about 50 % of its rows are missing/],
  "the first bytes of a JPEG": [jpeg.subarray(0, 40), /cannot be decoded/],
} as const;

describe("an uploaded picture", () => {
  const publicFetch = new PublicFetch();
  let service: HttpService;
  let customer: Customer;

  beforeAll(async () => {
    service = await HttpService.start();
    const imaging = sharpImaging();
    Object.assign(service.imaging, {
      inspect: imaging.inspect.bind(imaging),
      withoutPersonalData: imaging.withoutPersonalData.bind(imaging),
    });
  });
  beforeEach(async () => {
    customer = await service.customer();
    service.calls.uploadImages = 0;
  });
  afterAll(() => service.end());

  const upload = (by: Customer, ...files: readonly Buffer[]) => {
    const body = new FormData();
    for (const file of files) body.append("files", new Blob([Uint8Array.from(file)]), "picture");
    return service.request("/images", by, { method: "POST", body });
  };
  const stored = async (response: Response) => {
    expect(response.status).toBe(200);
    const [url = ""] = ((await response.json()) as { image_urls: string[] }).image_urls;
    return { url, bytes: (await service.storage.read(service.storage.nameOf(url)!))._unsafeUnwrap() };
  };

  it.each(Object.keys(SHOWN) as (keyof typeof SHOWN)[])("of %s becomes usable for every provider", async (name) => {
    const { storage } = service;
    const { url, bytes } = await stored(await upload(customer, SHOWN[name]));
    const local = new ReferenceImages(storage, publicFetch);
    const { signal } = new AbortController();
    const loaded = (await local.load(url, 100, signal))._unsafeUnwrap();
    expect([loaded.widthPixels, loaded.heightPixels]).toEqual([100, 75]);
    const dataUri = (await dataUriOf(bytes))._unsafeUnwrap();
    for (const sent of [
      (await smallerReference(bytes))._unsafeUnwrap().bytes,
      (await referenceFile(url, { storage, publicFetch }))._unsafeUnwrap().bytes,
      Buffer.from(dataUri.slice(dataUri.indexOf(",") + 1), "base64"),
    ]) {
      const { info } = await sharp(sent, { failOn: "warning" }).raw().toBuffer({ resolveWithObject: true });
      expect([info.width, info.height]).toEqual([400, 300]);
    }
    expect((await panoramaCanvas(bytes)).isOk()).toBe(true);
    expect((await sphereCanvas([bytes], { widthPixels: 256, heightPixels: 128 })).isOk()).toBe(true);
  });

  it.each(Object.keys(REFUSED) as (keyof typeof REFUSED)[])("of %s is refused with the reason", async (name) => {
    const [bytes, reason] = REFUSED[name];
    const objects = service.storage.objects.size;
    const response = await upload(customer, jpeg, bytes);
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { code: string; message: string; param: string } };
    expect(error).toMatchObject({ code: "invalid_request", param: "files[1]" });
    expect(error.message).toMatch(reason);
    expect(service.storage.objects.size).toBe(objects);
  });
});
