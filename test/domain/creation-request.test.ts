import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalText, parseCreationRequest } from "../../domain/creation-request.js";

const url = "https://images.example.com/1.jpg";
const urlOf = (characters: number, filler = "x"): string => {
  const start = "https://images.example.com/";
  return start + filler.repeat(characters - start.length);
};

const accepted = (body: unknown) => parseCreationRequest(body)._unsafeUnwrap();
const refusal = (body: unknown): string => {
  const { kind, message } = parseCreationRequest(body)._unsafeUnwrapErr();
  expect(kind).toBe("invalid_request");
  return message;
};

describe("a creation request", () => {
  it("is private, and from text alone, if it says nothing else", () => {
    expect(accepted({ resolution: "1k", prompt: "a quiet lake" })).toEqual({
      resolution: "1k",
      prompt: "a quiet lake",
      imageUrls: [],
      visibility: "private",
    });
  });

  it("may say everything", () => {
    const body = { resolution: "4k", prompt: "a quiet lake", image_urls: [url, url, url], visibility: "public" };
    expect(accepted(body)).toEqual({
      resolution: "4k",
      prompt: "a quiet lake",
      imageUrls: [url, url, url],
      visibility: "public",
    });
  });

  it.each(["1k", "2k", "4k"])("may ask for %s", (resolution) => {
    expect(accepted({ resolution, prompt: "lake" }).resolution).toBe(resolution);
  });

  it.each(["cat", " cat ", "猫と犬", "🏔️🌊", "👍👍👍", "a b"])("may have a prompt of three characters: %s", (prompt) => {
    expect(accepted({ resolution: "1k", prompt }).prompt).toBe(prompt.trim());
  });

  it.each([
    ["omitted", undefined],
    ["empty", ""],
    ["blank", "  \n "],
  ])("may have its prompt %s when it has image URLs", (_, prompt) => {
    expect(accepted({ resolution: "1k", prompt, image_urls: [url] }).prompt).toBeUndefined();
  });

  it("may have a short prompt when it has image URLs", () => {
    expect(accepted({ resolution: "1k", prompt: "a", image_urls: [url] }).prompt).toBe("a");
  });

  it("may have an image URL of 2048 characters, whatever characters these are", () => {
    for (const longest of [urlOf(2048), urlOf(2048, "🌊")]) {
      expect(accepted({ resolution: "1k", image_urls: [longest] }).imageUrls).toEqual([longest]);
    }
  });

  it("takes an empty array of image URLs for none", () => {
    expect(accepted({ resolution: "1k", prompt: "lake", image_urls: [] }).imageUrls).toEqual([]);
    expect(refusal({ resolution: "1k", image_urls: [] })).toBe("request body: needs a prompt, image_urls, or both.");
  });

  it("ignores fields that it does not know", () => {
    const body = { resolution: "1k", prompt: "lake", seed: 7, resolutions: null };
    expect(accepted(body)).toEqual(accepted({ resolution: "1k", prompt: "lake" }));
  });

  it.each<[unknown, string]>([
    [undefined, "request body: must be a JSON object, but is missing."],
    [null, "request body: must be a JSON object, but is null."],
    ["lake", 'request body: must be a JSON object, but is "lake".'],
    [[{ resolution: "1k" }], "request body: must be a JSON object, but is an array of 1 item."],
    [{ resolution: "1k" }, "request body: needs a prompt, image_urls, or both."],
    [{}, 'resolution: must be "1k", "2k" or "4k", but is missing.'],
  ])("cannot be %j", (body, message) => {
    expect(refusal(body)).toBe(message);
  });

  it.each<[string, unknown, string]>([
    ["resolution", "8k", 'resolution: must be "1k", "2k" or "4k", but is "8k".'],
    ["resolution", "1K", 'resolution: must be "1k", "2k" or "4k", but is "1K".'],
    ["resolution", "", 'resolution: must be "1k", "2k" or "4k", but is "".'],
    ["resolution", null, 'resolution: must be "1k", "2k" or "4k", but is null.'],
    ["resolution", 1, 'resolution: must be "1k", "2k" or "4k", but is 1.'],
    ["resolution", ["1k"], 'resolution: must be "1k", "2k" or "4k", but is an array of 1 item.'],
    ["prompt", null, "prompt: must be a string, but is null."],
    ["prompt", 123, "prompt: must be a string, but is 123."],
    ["prompt", ["lake"], "prompt: must be a string, but is an array of 1 item."],
    ["prompt", {}, "prompt: must be a string, but is an object."],
    ["prompt", "a\u0000lake", "prompt: must be valid Unicode text without NUL characters."],
    ["prompt", "a lake \ud83c", "prompt: must be valid Unicode text without NUL characters."],
    ["image_urls", null, "image_urls: must be an array of strings, but is null."],
    ["image_urls", url, `image_urls: must be an array of strings, but is "${url}".`],
    ["image_urls", { 0: url }, "image_urls: must be an array of strings, but is an object."],
    ["image_urls", [url, url, url, url], "image_urls: must have at most 3 items, but has 4."],
    ["image_urls", [url, 5], "image_urls[1]: must be a string, but is 5."],
    ["image_urls", [null], "image_urls[0]: must be a string, but is null."],
    ["image_urls", [urlOf(2049)], "image_urls[0]: must have at most 2048 characters, but has 2049."],
    ["image_urls", [url, `${url}\u0000`], "image_urls[1]: must be valid Unicode text without NUL characters."],
    ["image_urls", [`${url}\udc00`], "image_urls[0]: must be valid Unicode text without NUL characters."],
    [
      "image_urls",
      ["https://me:secret@example.com/1.jpg"],
      "image_urls[0]: must not have a user name or password in front of the host.",
    ],
    ["visibility", "hidden", 'visibility: must be "private" or "public", but is "hidden".'],
    ["visibility", null, 'visibility: must be "private" or "public", but is null.'],
    ["visibility", true, 'visibility: must be "private" or "public", but is true.'],
  ])("is refused with %s %j", (field, value, message) => {
    expect(refusal({ resolution: "1k", prompt: "lake", [field]: value })).toBe(message);
  });

  it.each(["ab", " ab ", "👍👍", "", "   ", "\n\t"])("is refused with the prompt %j and no image URLs", (prompt) => {
    const message = `prompt: must have at least 3 characters, without the white space around them, when image_urls is omitted, but is ${JSON.stringify(prompt)}.`;
    expect(refusal({ resolution: "1k", prompt })).toBe(message);
    expect(refusal({ resolution: "1k", prompt, image_urls: [] })).toBe(message);
  });

  it.each([
    "",
    "http://images.example.com/1.jpg",
    "HTTPS://images.example.com/1.jpg",
    "ftp://images.example.com/1.jpg",
    "images.example.com/1.jpg",
    "data:image/png;base64,AAAA",
    "file:///etc/passwd",
    "https:/images.example.com/1.jpg",
    "https://",
    "https://images example.com/1.jpg",
    "https://images.example.com/1 2.jpg",
    " https://images.example.com/1.jpg",
    "https://images.example.com/1.jpg\u0007",
    "https://images.example.com:99999/1.jpg",
  ])("is refused with the image URL %j", (text) => {
    expect(refusal({ resolution: "1k", image_urls: [text] })).toBe(
      `image_urls[0]: must be a complete URL that starts with https://, but is ${JSON.stringify(text)}.`,
    );
  });

  it("stays short in its messages, however much is sent", () => {
    const huge = "x".repeat(1_000_000);
    for (const body of [
      huge,
      { resolution: huge },
      { resolution: "1k", prompt: "lake", visibility: huge },
      { resolution: "1k", prompt: "lake", image_urls: huge },
      { resolution: "1k", image_urls: [huge] },
      { resolution: "1k", image_urls: [`http://${"x".repeat(2000)}`] },
      { resolution: "1k", prompt: " ".repeat(1_000_000) },
      { resolution: "1k", image_urls: new Array(10_000).fill(url) },
    ]) {
      expect(refusal(body).length).toBeLessThan(250);
    }
  });

  it("answers whatever is sent with a request that keeps every rule, or with one sentence that names a field", () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.webUrl());
    const nearlyRight = fc.record(
      {
        resolution: fc.oneof({ weight: 5, arbitrary: fc.constantFrom("1k", "2k", "4k") }, anything),
        prompt: fc.oneof({ weight: 5, arbitrary: text }, anything),
        image_urls: fc.oneof(fc.array(fc.oneof(fc.webUrl({ validSchemes: ["https"] }), text, anything)), anything),
        visibility: fc.oneof({ weight: 5, arbitrary: fc.constantFrom("private", "public") }, anything),
      },
      { requiredKeys: [] },
    );
    return fc.assert(
      fc.property(fc.oneof(anything, nearlyRight), (body) => {
        const result = parseCreationRequest(body);
        if (result.isErr()) {
          expect(result.error.message).toMatch(
            /^(request body|resolution|prompt|visibility|image_urls(\[\d+\])?): (must|needs) [^\p{Cc}\p{Zl}\p{Zp}]+\.$/u,
          );
          expect(result.error.message).not.toMatch(/undefined|Invalid input|Too (big|small)|\[object/);
          return;
        }
        const { resolution, prompt, imageUrls, visibility } = result.value;
        expect(["1k", "2k", "4k"]).toContain(resolution);
        expect(["private", "public"]).toContain(visibility);
        expect(imageUrls.length).toBeLessThanOrEqual(3);
        for (const imageUrl of imageUrls) expect(imageUrl.startsWith("https://")).toBe(true);
        if (imageUrls.length === 0) expect([...(prompt ?? "")].length).toBeGreaterThanOrEqual(3);
        if (prompt !== undefined) expect(prompt).toBe(prompt.trim());
      }),
      { numRuns: 1000 },
    );
  });
});

describe("the canonical text of a creation request", () => {
  const textOf = (body: unknown) => canonicalText(accepted(body));

  it("is the same for requests that mean the same", () => {
    const spelt = { visibility: "private", image_urls: [], prompt: "lake", resolution: "1k" };
    expect(textOf({ resolution: "1k", prompt: "lake" })).toBe(textOf(spelt));
    expect(textOf({ resolution: "1k", prompt: " lake\n", seed: 7 })).toBe(textOf(spelt));
    expect(textOf({ resolution: "1k", image_urls: [url] })).toBe(
      textOf({ resolution: "1k", image_urls: [url], prompt: "" }),
    );
  });

  it("differs as soon as the meaning does", () => {
    const other = `${url}?2`;
    const texts = [
      { resolution: "1k", prompt: "lake" },
      { resolution: "2k", prompt: "lake" },
      { resolution: "1k", prompt: "Lake" },
      { resolution: "1k", prompt: "lake", visibility: "public" },
      { resolution: "1k", prompt: "lake", image_urls: [url] },
      { resolution: "1k", image_urls: [url] },
      { resolution: "1k", image_urls: [url, other] },
      { resolution: "1k", image_urls: [other, url] },
      { resolution: "1k", prompt: `null,["${url}"]` },
    ].map(textOf);
    expect(new Set(texts).size).toBe(texts.length);
  });
});
