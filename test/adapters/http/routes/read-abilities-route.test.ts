import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Abilities, ALL_ABILITIES } from "../../../../domain/tasks/abilities.js";
import { type Customer, HttpService } from "../../../support/http-service.js";

const TEXT_ONLY: Abilities = { imagesMin: 0, imagesMax: 0, promptCharactersMax: 4000 };
const ONE_IMAGE: Abilities = { imagesMin: 0, imagesMax: 1, promptCharactersMax: 1200 };
const NEEDS_IMAGES: Abilities = { imagesMin: 1, imagesMax: 3, promptCharactersMax: 4000 };

type Document = {
  readonly info: { readonly description: string };
  readonly "x-panorama": { readonly abilities: unknown };
  readonly paths: Record<string, { readonly post: { readonly description: string } }>;
  readonly components: { readonly schemas: { readonly CreationRequest: CreationSchema } };
};

type CreationSchema = {
  readonly description: string;
  readonly properties: Record<string, Readonly<Record<string, unknown>>>;
};

describe("the abilities of an installation", () => {
  let service: HttpService;
  let customer: Customer;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer();
  });
  afterEach(() => service.end());

  const document = async () => (await (await fetch(`${service.url}/api/v1/openapi.json`)).json()) as Document;

  it.each([
    [ALL_ABILITIES, { images_min: 0, images_max: 3, prompt_characters_max: 4000 }],
    [TEXT_ONLY, { images_min: 0, images_max: 0, prompt_characters_max: 4000 }],
    [ONE_IMAGE, { images_min: 0, images_max: 1, prompt_characters_max: 1200 }],
    [NEEDS_IMAGES, { images_min: 1, images_max: 3, prompt_characters_max: 4000 }],
  ])("returns the abilities in GET /abilities and x-panorama: %o", async (abilities, told) => {
    service.provider.abilities = abilities;
    const response = await service.request("/abilities", customer);
    expect(response.status).toBe(200);
    const all = { ...told, resolutions: ["1k", "2k", "4k"] };
    expect(await response.json()).toEqual(all);
    expect((await document())["x-panorama"].abilities).toEqual(all);
  });

  it.each([
    [
      ALL_ABILITIES,
      "panoramas from a text prompt, from up to 3 reference images, or from both.",
      "Needs a prompt of 3 to 4000 characters, image_urls, or both.",
      "Has a prompt, image_urls with at least one URL, or both. Without image_urls the prompt has at least 3 characters.",
      { maxItems: 3, description: "This installation takes up to 3 reference images." },
      { maxLength: 4000, description: "A prompt has at most 4000 characters." },
    ],
    [
      TEXT_ONLY,
      "panoramas from a text prompt.",
      "Needs a prompt of 3 to 4000 characters.",
      "Has a prompt of at least 3 characters. image_urls is refused unless it is empty.",
      { maxItems: 0, description: "This installation takes no reference images." },
      { maxLength: 4000, description: "A prompt has at most 4000 characters." },
    ],
    [
      NEEDS_IMAGES,
      "panoramas from 1 to 3 reference images, with or without a text prompt.",
      "Needs image_urls, with or without a prompt of at most 4000 characters.",
      "Has image_urls, with or without a prompt.",
      { minItems: 1, maxItems: 3, description: "This installation needs 1 to 3 reference images." },
      { maxLength: 4000, description: "A prompt has at most 4000 characters." },
    ],
  ])("appears in the OpenAPI description of a creation: %o", async (abilities, from, needs, has, images, prompt) => {
    service.provider.abilities = abilities;
    const { info, paths, components } = await document();
    expect(info.description).toContain(from);
    expect(paths["/panoramas"]?.post.description).toContain(needs);
    const { description, properties } = components.schemas.CreationRequest;
    expect(description.startsWith(`${has} White space around a prompt does not count, `)).toBe(true);
    const { items: _, ...imageUrls } = properties.image_urls ?? {};
    const { description: told, ...counts } = images;
    expect(imageUrls).toEqual({ type: "array", ...counts, description: expect.stringContaining(told) });
    expect(properties.prompt).toEqual({ type: "string", ...prompt });
  });

  it("gets a new description and ETag when a provider's check finds other abilities", async () => {
    const read = async (etag = "") =>
      await fetch(`${service.url}/api/v1/openapi.json`, { headers: { "if-none-match": etag } });
    const before = await read();
    const etag = before.headers.get("etag") ?? "";
    expect(before.status).toBe(200);
    expect((await read(etag)).status).toBe(304);
    service.provider.abilities = ONE_IMAGE;
    const after = await read(etag);
    expect(after.status).toBe(200);
    expect(((await after.json()) as Document)["x-panorama"].abilities).toMatchObject({ images_max: 1 });
    service.provider.abilities = ALL_ABILITIES;
    expect((await read(etag)).status).toBe(304);
  });
});
