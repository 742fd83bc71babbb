import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { type Abilities, ALL_ABILITIES, abilitiesOfAny, admitAbilities } from "../../../domain/tasks/abilities.js";

const abilities: fc.Arbitrary<Abilities> = fc
  .record({
    a: fc.integer({ min: 0, max: 3 }),
    b: fc.integer({ min: 0, max: 3 }),
    prompt: fc.integer({ min: 3, max: 40 }),
  })
  .map(({ a, b, prompt }) => ({ imagesMin: Math.min(a, b), imagesMax: Math.max(a, b), promptCharactersMax: prompt }));

const request = fc
  .record({ images: fc.integer({ min: 0, max: 3 }), length: fc.integer({ min: 3, max: 50 }) })
  .map(({ images, length }) => ({
    prompt: "🌲".repeat(length),
    imageUrls: Array.from({ length: images }, (_, n) => `https://pictures.example/${n}.jpg`),
  }));

describe("abilities", () => {
  it("admit exactly the requests that a model supports", () => {
    fc.assert(
      fc.property(abilities, request, (model, { prompt, imageUrls }) => {
        const kept =
          imageUrls.length >= model.imagesMin &&
          imageUrls.length <= model.imagesMax &&
          [...prompt].length <= model.promptCharactersMax;
        expect(admitAbilities(model, { prompt, imageUrls }).isOk()).toBe(kept);
      }),
    );
  });

  it("of any admit the requests that one of them admits", () => {
    fc.assert(
      fc.property(fc.tuple(abilities, abilities), request, (models, wanted) => {
        const one = models.some((model) => admitAbilities(model, wanted).isOk());
        expect(admitAbilities(abilitiesOfAny(models), wanted).isOk() || !one).toBe(true);
      }),
    );
  });

  it.each([
    [{ imagesMin: 1 }, { prompt: "a lake" }, { field: "image_urls", rule: { name: "images_only" } }],
    [{ imagesMax: 0 }, { image_urls: ["https://a.example"] }, { field: "image_urls", rule: { name: "text_only" } }],
    [
      { imagesMax: 1 },
      { image_urls: ["https://a.example", "https://b.example"] },
      { field: "image_urls", rule: { name: "items_max", max: 1, actual: 2 } },
    ],
    [
      { promptCharactersMax: 4 },
      { prompt: "a lake" },
      { field: "prompt", rule: { name: "characters_max", max: 4, actual: 6 } },
    ],
  ])("name the field that a model with %j does not keep", (limits, body, refusal) => {
    expect(admitAbilities({ ...ALL_ABILITIES, ...limits }, aCreationRequest(body))._unsafeUnwrapErr()).toEqual({
      kind: "invalid_request",
      ...refusal,
    });
  });

  it("admit a request without a prompt, however short prompts must be", () => {
    const wanted = { prompt: undefined, imageUrls: ["https://a.example"] };
    expect(admitAbilities({ ...ALL_ABILITIES, promptCharactersMax: 4 }, wanted).isOk()).toBe(true);
  });

  it("allow everything of the specification by default", () => {
    expect(ALL_ABILITIES).toEqual({ imagesMin: 0, imagesMax: 3, promptCharactersMax: 4000 });
  });
});
