import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { type BrokenRule, invalidRequest } from "../../../domain/invalid-request.js";
import { creationRequestSchema, parseCreation, parseCreationRequest } from "../../../domain/tasks/creation-request.js";
import { brokenMetadataRule } from "../../../domain/tasks/metadata.js";

const url = "https://images.example.com/1.jpg";
const urlOf = (characters: number, filler = "x"): string => {
  const start = "https://images.example.com/";
  return start + filler.repeat(characters - start.length);
};

const accepted = (body: unknown) => parseCreationRequest(body)._unsafeUnwrap();
const refusal = (body: unknown) => parseCreationRequest(body)._unsafeUnwrapErr();

const type = (expected: "string" | "strings" | "object", actual?: unknown) => ({
  name: "type" as const,
  expected,
  actual,
});
const oneOf = (allowed: readonly string[], actual?: unknown) => ({ name: "one_of" as const, allowed, actual });
const keys = (count: number) => Array.from({ length: count }, (_, n) => [`key-${n}`, String(n)]);
const key41 = "🌊".repeat(41);
const resolutions = ["1k", "2k", "4k"];
const visibilities = ["private", "public"];

describe("a creation request", () => {
  it("is private and made from text only by default", () => {
    expect(accepted({ resolution: "1k", prompt: "a quiet lake" })).toEqual({
      resolution: "1k",
      prompt: "a quiet lake",
      imageUrls: [],
      visibility: "private",
      seed: undefined,
      metadata: {},
    });
  });

  it("may have null for a field that is left out, as clients of several languages send it", () => {
    const fields = ["image_urls", "visibility", "seed", "metadata", "max_credits", "webhook_url"];
    const nulls = Object.fromEntries(fields.map((name) => [name, null]));
    const body = { resolution: "1k", prompt: "a quiet lake" };
    expect(parseCreation({ ...body, ...nulls })).toEqual(parseCreation(body));
    const images = { resolution: "1k", image_urls: [url] };
    expect(accepted({ ...images, prompt: null })).toEqual(accepted(images));
    expect(refusal({ ...body, prompt: null })).toEqual(refusal({ resolution: "1k" }));
  });

  it("may have every field", () => {
    const body = {
      resolution: "4k",
      prompt: "a quiet lake",
      image_urls: [url, url, url],
      visibility: "public",
      seed: 7,
      metadata: { order: "A-17", "": undefined },
    };
    expect(refusal(body).rule.name).toBe("pair_key");
    expect(accepted({ ...body, metadata: { order: "A-17" } })).toEqual({
      resolution: "4k",
      prompt: "a quiet lake",
      imageUrls: [url, url, url],
      visibility: "public",
      seed: 7,
      metadata: { order: "A-17" },
    });
  });

  it.each(["cat", " cat ", "猫と犬", "🏔️🌊", "👍👍👍", "a b"])("may have a prompt of three characters: %s", (prompt) => {
    expect(accepted({ resolution: "1k", prompt }).prompt).toBe(prompt.trim());
  });

  it("may have a short prompt or none when it has image URLs", () => {
    const promptOf = (prompt: unknown) => accepted({ resolution: "1k", prompt, image_urls: [url] }).prompt;
    expect([undefined, "", "  \n ", "a"].map(promptOf)).toEqual([undefined, undefined, undefined, "a"]);
  });

  it("may have an image URL of 2048 characters, also with characters outside the BMP", () => {
    for (const longest of [urlOf(2048), urlOf(2048, "🌊")]) {
      expect(accepted({ resolution: "1k", image_urls: [longest] }).imageUrls).toEqual([longest]);
    }
  });

  it.each([
    ["of 4,000 characters", "x".repeat(4000)],
    ["of 4,000 characters outside the BMP", "🌊".repeat(4000)],
    ["of 4,000 characters with white space around it", ` ${"x".repeat(4000)}\n\n`],
  ])("may have a prompt %s, with and without image URLs", (_, prompt) => {
    expect(accepted({ resolution: "1k", prompt }).prompt).toBe(prompt.trim());
    expect(accepted({ resolution: "1k", prompt, image_urls: [url] }).prompt).toBe(prompt.trim());
  });

  it.each([4001, 250_000])("is refused with a prompt of %i characters, with and without image URLs", (length) => {
    const tooLong = invalidRequest("prompt", { name: "characters_max", max: 4000, actual: length });
    expect(refusal({ resolution: "1k", prompt: ` ${"x".repeat(length)} ` })).toEqual(tooLong);
    expect(refusal({ resolution: "1k", prompt: "🌊".repeat(length) })).toEqual(tooLong);
    expect(refusal({ resolution: "1k", prompt: "x".repeat(length), image_urls: [url] })).toEqual(tooLong);
  });

  it("treats an empty array of image URLs like an omitted one", () => {
    expect(accepted({ resolution: "1k", prompt: "lake", image_urls: [] }).imageUrls).toEqual([]);
    expect(refusal({ resolution: "1k", image_urls: [] })).toEqual(invalidRequest("body", { name: "prompt_or_images" }));
  });

  it("ignores unknown fields", () => {
    const body = { resolution: "1k", prompt: "lake", sead: 7, resolutions: null };
    expect(accepted(body)).toEqual(accepted({ resolution: "1k", prompt: "lake" }));
  });

  it.each([
    ["image_url", "image_urls"],
    ["imageUrls", "image_urls"],
    ["images", "image_urls"],
    ["image_urls[]", "image_urls"],
    ["Prompt", "prompt"],
    ["maxCredits", "max_credits"],
    ["webhookUrl", "webhook_url"],
  ])("refuses %s, which would be missing from the panorama, and names %s", (name, meant) => {
    const body = { resolution: "1k", prompt: "lake", other: 1, [name]: ["https://example.com/a.jpg"] };
    expect(refusal(body)).toEqual(invalidRequest(name, { name: "misnamed", meant }));
    expect(refusal({ [name]: "x" })).toEqual(invalidRequest(name, { name: "misnamed", meant }));
    expect(accepted({ ...body, [name]: null })).toEqual(accepted({ resolution: "1k", prompt: "lake" }));
  });

  it("looks at a hundred unknown fields only", () => {
    const others = Object.fromEntries(Array.from({ length: 99 }, (_, n) => [`x${"y".repeat(n)}`, n]));
    const body = { resolution: "1k", prompt: "lake", ...others };
    expect(refusal({ ...body, imageUrl: "x" }).field).toBe("imageUrl");
    expect(accepted({ ...body, z: 1, imageUrl: "x" })).toEqual(accepted({ resolution: "1k", prompt: "lake" }));
  });

  it.each([
    ["zero-width spaces and joiners", "\u200b\u200c\u200d\u2060\ufeff"],
    ["variation selectors, tags and soft hyphens", "\ufe0f\u{e0041}\u{e0100}\u00ad"],
    ["marks of direction", "\u200e\u202e\u2066\u061c"],
    ["fillers of Hangul, blanks of Braille and of music", "\u3164\u115f\u1160\uffa0\u2800\u{1d159}"],
    ["control characters", "\u0001\u0007\u001b\u007f"],
    ["those between white space", " \u200b \n \u2063 \u00a0 \u3000 "],
  ])("takes a prompt of invisible characters for an empty one: %s", (_, prompt) => {
    const rule = { name: "prompt_without_images", min: 3, actual: prompt } as const;
    expect(refusal({ resolution: "1k", prompt })).toEqual(invalidRequest("prompt", rule));
    expect(accepted({ resolution: "1k", prompt, image_urls: [url] }).prompt).toBeUndefined();
    // They stay where something is visible: emoji and many scripts need them.
    expect(accepted({ resolution: "1k", prompt: `a${prompt}b c` }).prompt).toBe(`a${prompt}b c`);
  });

  it.each(["\u2764\ufe0f\u2764", "\u{1f468}\u200d\u{1f469}", "\u0645\u06cc\u200c\u062e", "???"])(
    "keeps the prompt %s as it is",
    (prompt) => {
      expect(accepted({ resolution: "1k", prompt }).prompt).toBe(prompt);
    },
  );

  it.each<[unknown, string, BrokenRule]>([
    [undefined, "body", type("object")],
    [null, "body", type("object", null)],
    ["lake", "body", type("object", "lake")],
    [[{ resolution: "1k" }], "body", type("object", [{ resolution: "1k" }])],
    [{ resolution: "1k" }, "body", { name: "prompt_or_images" }],
    [{}, "resolution", oneOf(resolutions)],
  ])("cannot be %j", (body, field, rule) => {
    expect(refusal(body)).toEqual(invalidRequest(field, rule));
  });

  it.each<[string, unknown, BrokenRule, number?]>([
    ["resolution", "8k", oneOf(resolutions, "8k")],
    ["resolution", "1K", oneOf(resolutions, "1K")],
    ["resolution", "", oneOf(resolutions, "")],
    ["resolution", null, oneOf(resolutions, null)],
    ["resolution", 1, oneOf(resolutions, 1)],
    ["resolution", ["1k"], oneOf(resolutions, ["1k"])],
    ["prompt", 123, type("string", 123)],
    ["prompt", ["lake"], type("string", ["lake"])],
    ["prompt", {}, type("string", {})],
    ["prompt", "a\u0000lake", { name: "storable_text" }],
    ["prompt", "a lake \ud83c", { name: "storable_text" }],
    // An object whose length is no number, and cannot be made one.
    ["image_urls", { length: { valueOf: 1, toString: 1 } }, type("strings", { length: { valueOf: 1, toString: 1 } })],
    ["image_urls", url, type("strings", url)],
    ["image_urls", { 0: url }, type("strings", { 0: url })],
    ["image_urls", [url, url, url, url], { name: "items_max", max: 3, actual: 4 }],
    ["image_urls", [url, 5], type("string", 5), 1],
    ["image_urls", [null], type("string", null), 0],
    ["image_urls", [urlOf(2049)], { name: "characters_max", max: 2048, actual: 2049 }, 0],
    ["image_urls", [url, `${url}\u0000`], { name: "storable_text" }, 1],
    ["image_urls", [`${url}\udc00`], { name: "storable_text" }, 0],
    ["image_urls", ["https://me:secret@example.com/1.jpg"], { name: "no_user_info" }, 0],
    ["image_urls", ["https://:secret@example.com/1.jpg"], { name: "no_user_info" }, 0],
    ["visibility", "hidden", oneOf(visibilities, "hidden")],
    ["visibility", true, oneOf(visibilities, true)],
    ...[-1, 2 ** 31, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "7", true, [7]].map(
      (seed): [string, unknown, BrokenRule] => [
        "seed",
        seed,
        { name: "integer", min: 0, max: 2147483647, actual: seed },
      ],
    ),
    ["metadata", "order", type("object", "order")],
    ["metadata", ["order"], type("object", ["order"])],
    ["metadata", 17, type("object", 17)],
    ["metadata", Object.fromEntries(keys(17)), { name: "pairs_max", max: 16, actual: 17 }],
    ["metadata", { "": "x" }, { name: "pair_key", min: 1, max: 40, actual: "" }],
    ["metadata", { [key41]: "x" }, { name: "pair_key", min: 1, max: 40, actual: key41 }],
    ["metadata", { "a\u0000": "x" }, { name: "storable_text" }],
    ["metadata", { "\ud83c": "x" }, { name: "storable_text" }],
    ["metadata", { order: "a\u0000" }, { name: "storable_text" }],
    ["metadata", { order: 17 }, { name: "pair_value", key: "order", max: 500, actual: 17 }],
    ["metadata", { order: null }, { name: "pair_value", key: "order", max: 500, actual: null }],
    ["metadata", { order: "🌊".repeat(501) }, { name: "pair_value", key: "order", max: 500, actual: "🌊".repeat(501) }],
  ])("is refused with %s %j", (field, value, rule, index) => {
    expect(refusal({ resolution: "1k", prompt: "lake", [field]: value })).toEqual(invalidRequest(field, rule, index));
  });

  it("cannot have null as metadata, beyond the parser, which leaves it out", () => {
    expect(brokenMetadataRule(null)).toEqual(type("object", null));
  });

  it("may have a seed of 0 to 2147483647, and takes -0 for 0", () => {
    const seedOf = (text: string) =>
      accepted(JSON.parse(`{"resolution": "1k", "prompt": "lake", "seed": ${text}}`)).seed;
    expect(["0", "1", "2147483647"].map(seedOf)).toEqual([0, 1, 2147483647]);
    expect(Object.is(seedOf("-0"), 0)).toBe(true);
  });

  it("may have 16 pairs of metadata, keys of 40 and values of 500 characters, and any other key", () => {
    const metadata = Object.fromEntries([
      ...keys(13),
      ["🌊".repeat(40), "🌊".repeat(500)],
      ["empty", ""],
      ["__proto__", "x"],
    ]);
    const request = accepted(JSON.parse(JSON.stringify({ resolution: "1k", prompt: "lake", metadata })));
    expect(Object.entries(request.metadata)).toEqual(Object.entries(metadata));
  });

  it.each(["ab", " ab ", "👍👍", "", "   ", "\n\t"])("is refused with the prompt %j and no image URLs", (prompt) => {
    const tooShort = invalidRequest("prompt", { name: "prompt_without_images", min: 3, actual: prompt });
    expect(refusal({ resolution: "1k", prompt })).toEqual(tooShort);
    expect(refusal({ resolution: "1k", prompt, image_urls: [] })).toEqual(tooShort);
  });

  it.each([
    ["", "HTTP://images.example.com/1.jpg", "HTTPS://images.example.com/1.jpg", "ftp://a.example/https://1.jpg"],
    ["images.example.com/1.jpg", "data:image/png;base64,AAAA", "file:///etc/passwd", "https://"],
    ["https:/images.example.com/1.jpg", "https://images example.com/1.jpg", "https://images.example.com/1 2.jpg"],
    [" https://images.example.com/1.jpg", "https://images.example.com/1.jpg\u0007", "https://a.example:99999/1.jpg"],
  ])("is refused with the image URL %j", (...texts) => {
    for (const text of texts) {
      const refused = invalidRequest("image_urls", { name: "https_url", actual: text }, 0);
      expect(refusal({ resolution: "1k", image_urls: [text] })).toEqual(refused);
    }
  });

  it("parses any input to a request that keeps every rule, or to an error that names a field", () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
    const unit = fc.nat(0x10ffff).map((point) => String.fromCodePoint(point));
    const text = fc.oneof(fc.string({ unit }), fc.string({ unit: "grapheme" }), fc.webUrl());
    const nearlyRight = fc.record(
      {
        resolution: fc.oneof({ weight: 5, arbitrary: fc.constantFrom("1k", "2k", "4k") }, anything),
        prompt: fc.oneof({ weight: 5, arbitrary: text }, anything),
        image_urls: fc.oneof(fc.array(fc.oneof(fc.webUrl({ validSchemes: ["https"] }), text, anything)), anything),
        visibility: fc.oneof({ weight: 5, arbitrary: fc.constantFrom("private", "public") }, anything),
        seed: fc.oneof({ weight: 5, arbitrary: fc.nat({ max: 2 ** 31 - 1 }) }, anything),
        metadata: fc.oneof({ weight: 5, arbitrary: fc.dictionary(text, text) }, anything),
      },
      { requiredKeys: [] },
    );
    return fc.assert(
      fc.property(fc.oneof(anything, nearlyRight), (body) => {
        const result = parseCreationRequest(body);
        if (result.isErr()) {
          const { kind, field, index } = result.error;
          expect(kind).toBe("invalid_request");
          expect(["body", "resolution", "prompt", "visibility", "image_urls", "seed", "metadata"]).toContain(field);
          if (index !== undefined) expect(field).toBe("image_urls");
          return;
        }
        const { resolution, prompt, imageUrls, visibility, seed = 0, metadata } = result.value;
        expect(seed >= 0 && seed < 2 ** 31 && Number.isInteger(seed)).toBe(true);
        expect(Object.keys(metadata).length).toBeLessThanOrEqual(16);
        for (const pair of Object.entries(metadata)) for (const text of pair) expect(text.isWellFormed()).toBe(true);
        expect(["1k", "2k", "4k"]).toContain(resolution);
        expect(["private", "public"]).toContain(visibility);
        expect(imageUrls.length).toBeLessThanOrEqual(3);
        for (const imageUrl of imageUrls) expect(imageUrl).toMatch(/^https?:\/\//);
        if (imageUrls.length === 0) expect([...(prompt ?? "")].length).toBeGreaterThanOrEqual(3);
        if (prompt !== undefined) expect(prompt).toBe(prompt.trim());
      }),
      { numRuns: 1000 },
    );
  });
});

describe("max_credits", () => {
  const body = (max_credits: unknown) => ({ resolution: "2k", prompt: "lake", max_credits });

  it("is not a part of the panorama", () => {
    const { request, maxCredits } = parseCreation(body(6))._unsafeUnwrap();
    expect(maxCredits).toBe(6);
    expect(request).toEqual(accepted({ resolution: "2k", prompt: "lake" }));
    expect(parseCreation(body(undefined))._unsafeUnwrap().maxCredits).toBeUndefined();
  });

  it.each([-1, 1.5, "6", 2 ** 53])("cannot be %j", (actual) => {
    const rule = { name: "integer", min: 0, max: Number.MAX_SAFE_INTEGER, actual } as const;
    expect(refusal(body(actual))).toEqual(invalidRequest("max_credits", rule));
  });
});

describe("creationRequestSchema", () => {
  it("describes the limits that it checks", () => {
    const url = { type: "string", format: "uri", pattern: "^https?://", maxLength: 2048 };
    const { required, properties } = z.toJSONSchema(creationRequestSchema, { io: "input" });
    expect(required).toEqual(["resolution"]);
    expect(properties).toMatchObject({
      resolution: {
        enum: ["1k", "2k", "4k"],
        // Prices are not the parser's: adapters/http/openapi/openapi-document.ts adds them.
        description: "1k: 1024 × 512 pixels. 2k: 2048 × 1024 pixels. 4k: 3840 × 1920 pixels.",
      },
      prompt: { type: "string", maxLength: 4000 },
      image_urls: { type: "array", items: url, maxItems: 3 },
      visibility: {
        enum: ["private", "public"],
        default: "private",
        description: expect.stringMatching(/^private: only the owner .* public: shown in the gallery to everybody\.$/),
      },
      seed: {
        type: "integer",
        minimum: 0,
        maximum: 2_147_483_647,
        description: expect.stringMatching(/takes seeds makes the same picture/),
      },
      metadata: {
        type: "object",
        maxProperties: 16,
        propertyNames: { minLength: 1, maxLength: 40 },
        additionalProperties: { type: "string", maxLength: 500 },
        description: expect.stringMatching(/^Your own data about the task\./),
        example: { order: "A-17" },
      },
      max_credits: {
        type: "integer",
        minimum: 0,
        description: expect.stringMatching(/nothing is created or reserved/),
      },
      webhook_url: {
        ...url,
        pattern: "^https://",
        description: expect.stringMatching(/signed with the default secret of the account/),
      },
    });
  });
});

describe("webhook_url", () => {
  const withUrl = (webhook_url: unknown) => ({ resolution: "1k", prompt: "lake", webhook_url });

  it("is optional", () => {
    for (const value of ["https://receiver.example.com/1?a=b", undefined]) {
      expect(accepted(withUrl(value)).webhookUrl).toBe(value);
    }
  });

  it.each<[unknown, BrokenRule]>([
    [7, type("string", 7)],
    ["http://receiver.example.com/", { name: "https_url", actual: "http://receiver.example.com/" }],
    ["https://", { name: "https_url", actual: "https://" }],
    ["https:a.example/?https://", { name: "https_url", actual: "https:a.example/?https://" }],
    ["https://[::1", { name: "https_url", actual: "https://[::1" }],
    ["https://user@receiver.example.com/", { name: "no_user_info" }],
    ["https://0x7f.1/hook", { name: "public_host", actual: "127.0.0.1" }],
    ["https://localhost:8443/hook", { name: "public_host", actual: "localhost" }],
    [urlOf(2049), { name: "characters_max", max: 2048, actual: 2049 }],
  ])("is refused: %j", (value, rule) => {
    expect(refusal(withUrl(value))).toEqual(invalidRequest("webhook_url", rule));
  });

  it("may be http and private at the origins that the operator lists, as endpoints may", () => {
    const origins = ["http://10.0.0.5:9000"];
    const url = "http://10.0.0.5:9000/hook";
    expect(parseCreation(withUrl(url), origins)._unsafeUnwrap().request.webhookUrl).toBe(url);
    for (const other of ["http://10.0.0.5:9001/hook", "http://receiver.example.com/", "ftp://10.0.0.5:9000/"]) {
      const refused = invalidRequest("webhook_url", { name: "https_url", actual: other });
      expect(parseCreation(withUrl(other), origins)._unsafeUnwrapErr()).toEqual(refused);
    }
  });
});
