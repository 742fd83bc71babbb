import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type RequestRule, rulePredicate } from "../../../adapters/wording/rule-predicate.js";
import { IMAGE_TYPES } from "../../../domain/images/image-type.js";
import { parseCreationRequest } from "../../../domain/tasks/creation-request.js";

/** One example of every rule: a forgotten one does not compile. */
const examples: { readonly [Name in RequestRule["name"]]: [Extract<RequestRule, { name: Name }>, string] } = {
  type: [{ name: "type", expected: "strings", actual: 5 }, "must be an array of strings, but is 5."],
  one_of: [{ name: "one_of", allowed: ["1k", "2k", "4k"], actual: "8k" }, 'must be "1k", "2k" or "4k", but is "8k".'],
  integer: [{ name: "integer", min: 1, max: 100, actual: "x" }, 'must be an integer from 1 to 100, but is "x".'],
  characters: [{ name: "characters", min: 10, max: 200, actual: 9 }, "must have 10 to 200 characters, but has 9."],
  characters_max: [
    { name: "characters_max", max: 2048, actual: 2049 },
    "must have at most 2048 characters, but has 2049.",
  ],
  items_max: [{ name: "items_max", max: 3, actual: 4 }, "must have at most 3 items, but has 4."],
  visible_characters: [
    { name: "visible_characters", min: 1, max: 80, actual: "two\nlines" },
    'must have 1 to 80 visible characters, but is "two\\nlines".',
  ],
  visible_ascii: [
    { name: "visible_ascii", min: 1, max: 255, actual: "schlüssel" },
    'must have 1 to 255 visible ASCII characters, but is "schlüssel".',
  ],
  storable_text: [{ name: "storable_text" }, "must be valid Unicode text without NUL characters."],
  email: [{ name: "email", actual: "me" }, 'must be an email address such as name@example.com, but is "me".'],
  https_url: [
    { name: "https_url", actual: "http://a.example" },
    'must be a complete URL that starts with https://, but is "http://a.example".',
  ],
  http_url: [
    { name: "http_url", actual: "ftp://a.example" },
    'must be a complete http(s) URL, but is "ftp://a.example".',
  ],
  new_endpoint: [{ name: "new_endpoint" }, "must not be the URL of another endpoint of this account."],
  public_host: [
    { name: "public_host", actual: "10.0.0.7" },
    'must be reachable on the Internet, but its host "10.0.0.7" is not public.',
  ],
  no_user_info: [{ name: "no_user_info" }, "must not have a user name or password in front of the host."],
  future_time: [
    { name: "future_time", actual: "yesterday" },
    'must be a time in the future such as 2030-01-31 or 2030-01-31T12:00:00Z, but is "yesterday".',
  ],
  cursor: [
    { name: "cursor", actual: "?" },
    'must be the whole next_cursor of an earlier answer of this list with the same filters, but is "?"; leave it out to begin at the first page.',
  ],
  date_time: [
    { name: "date_time", actual: "today" },
    'must be a date and time such as 2026-01-31T12:00:00Z (RFC 3339), but is "today".',
  ],
  pairs_max: [{ name: "pairs_max", max: 16, actual: 17 }, "must have at most 16 pairs, but has 17."],
  pair_key: [{ name: "pair_key", min: 1, max: 40, actual: "" }, 'must have keys of 1 to 40 characters, but one is "".'],
  pair_value: [
    { name: "pair_value", key: "order", max: 500, actual: 17 },
    'must have a string of at most 500 characters for "order", but has 17.',
  ],
  key_reused: [
    { name: "key_reused", hours: 24 },
    "was used with another request body within the last 24 hours; use a new key for a new request.",
  ],
  key_of_deleted: [
    { name: "key_of_deleted", taskId: "0190" },
    "belongs to the panorama 0190, which was deleted; use a new key for a new panorama.",
  ],
  prompt_or_images: [{ name: "prompt_or_images" }, "needs a prompt, image_urls, or both."],
  prompt_without_images: [
    { name: "prompt_without_images", min: 3, actual: " ab" },
    'must have at least 3 characters, not counting white space at its ends, and a visible one, if there are no image_urls, but is " ab".',
  ],
  missing_image: [
    { name: "missing_image" },
    "does not exist in this service: it was deleted, has expired, or was never there; upload the image again and use its new URL.",
  ],
  thumbnail: [{ name: "thumbnail" }, "is a thumbnail; use the image_url of the panorama."],
  cost_max: [{ name: "cost_max", max: 4, cost: 6 }, "is 4, but this panorama costs 6 credits; nothing was reserved."],
  not_finished: [
    { name: "not_finished" },
    "is still being generated or stored; delete it when it is finished, or cancel it first.",
  ],
  images_only: [{ name: "images_only" }, "must have an item: this service makes panoramas from images only."],
  text_only: [{ name: "text_only" }, "must be empty: this service makes panoramas from text only."],
  files_required: [
    { name: "files_required", max: 5 },
    "is required; send 1 to 5 images as multipart/form-data parts with the name files.",
  ],
  files_max: [{ name: "files_max", max: 5 }, "must be at most 5 files in one request."],
  bytes_max: [{ name: "bytes_max", max: 10_485_760 }, "must have at most 10 MiB (10485760 bytes)."],
  total_bytes_max: [
    { name: "total_bytes_max", max: 20_971_520 },
    "must have at most 20 MiB (20971520 bytes) in total.",
  ],
  paid_order_or_credits: [
    { name: "paid_order_or_credits", credits: 4 },
    "need a paid order, or at least 4 credits on the account.",
  ],
  unused_bytes_max: [
    { name: "unused_bytes_max", max: 209_715_200, actual: 199_500_000 },
    "must stay below 200 MiB of images that no panorama of the account uses, and there are already 191 MiB. Use them, or wait until the unused ones are deleted.",
  ],
  image_type: [
    { name: "image_type", allowed: IMAGE_TYPES },
    "must be one of image/jpeg, image/png, image/webp, but its first bytes are not the signature of any of them.",
  ],
  declared_type: [
    { name: "declared_type", declared: "image/gif", actual: "image/jpeg" },
    'is declared as "image/gif", but its bytes are image/jpeg.',
  ],
  usable_image: [
    { name: "usable_image", reason: "it cannot be decoded: bad header" },
    "cannot be used: it cannot be decoded: bad header.",
  ],
  complete: [{ name: "complete" }, "ended before it was complete."],
  not_empty: [{ name: "not_empty" }, "is empty, but must be a JSON object."],
  json: [{ name: "json" }, "must be JSON; it cannot be parsed."],
  utf8: [{ name: "utf8" }, "must be JSON in UTF-8 and not compressed, but has bytes that are not valid UTF-8."],
  content_type: [
    { name: "content_type", expected: "multipart/form-data", actual: undefined },
    "must be multipart/form-data, but is missing.",
  ],
  boundary: [{ name: "boundary" }, "is multipart/form-data, but has no boundary parameter of 1 to 70 characters."],
  multipart: [
    { name: "multipart", reason: "Unexpected end of form" },
    "must be complete multipart/form-data, but cannot be parsed: Unexpected end of form.",
  ],
  parts_max: [{ name: "parts_max", max: 50 }, "must have at most 50 parts."],
  filename: [{ name: "filename" }, "must be a file, but has no filename, and its bytes are not those of an image."],
  chunks: [{ name: "chunks" }, "has too many tiny chunks. Send larger ones, of 1 KiB or more."],
  content_encoding: [
    { name: "content_encoding", actual: "gzip" },
    'is "gzip", but compressed bodies are not taken; send the body as it is.',
  ],
  misnamed: [
    { name: "misnamed", meant: "image_urls" },
    "is not a field of this request; the field that it resembles is image_urls.",
  ],
  files_field: [
    { name: "files_field", part: 1, actual: "file" },
    'part 1 is a file in another form field; rename the form field "file" to "files".',
  ],
  one_length: [{ name: "one_length" }, "must not be sent more than once with different values."],
  unknown_parameter: [
    { name: "unknown_parameter", meant: "limit", known: ["limit", "cursor"] },
    "is not a parameter of this list; the nearest one is limit. The list takes limit, cursor.",
  ],
  once: [{ name: "once" }, "must not be given more than once."],
};

describe("the predicate of a broken rule", () => {
  it.each(Object.values(examples) as [RequestRule, string][])("of %o is: %s", (rule, predicate) => {
    expect(rulePredicate(rule)).toBe(predicate);
  });

  it("gives a size in bytes only if it is not a whole number of MiB", () => {
    expect(rulePredicate({ name: "bytes_max", max: 65_536 })).toBe("must have at most 65536 bytes.");
  });

  it("uses the edge's own name for the image URLs", () => {
    expect(rulePredicate({ name: "prompt_or_images" }, { imageUrls: "images" })).toBe(
      "needs a prompt, images, or both.",
    );
  });

  const refusal = (body: unknown): string => rulePredicate(parseCreationRequest(body)._unsafeUnwrapErr().rule);
  const url = "https://images.example.com/1.jpg";

  it("stays short for a creation request of any size", () => {
    const huge = "x".repeat(1_000_000);
    for (const body of [
      huge,
      { resolution: huge },
      { resolution: "1k", prompt: "lake", visibility: huge },
      { resolution: "1k", prompt: "lake", image_urls: huge },
      { resolution: "1k", image_urls: [huge] },
      { resolution: "1k", image_urls: [`ftp://${"x".repeat(2000)}`] },
      { resolution: "1k", prompt: " ".repeat(1_000_000) },
      { resolution: "1k", image_urls: new Array(10_000).fill(url) },
    ]) {
      expect(refusal(body).length).toBeLessThan(230);
    }
  });

  it("returns one line with a full stop for every refused creation request", () => {
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
        if (result.isOk()) return;
        const predicate = rulePredicate(result.error.rule);
        expect(predicate).toMatch(/^(must|needs) [^\p{Cc}\p{Zl}\p{Zp}]+\.$/u);
        expect(predicate).not.toMatch(/undefined|Invalid input|Too (big|small)|\[object/);
      }),
      { numRuns: 500 },
    );
  });
});
