import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { IMAGE_TYPES } from "../../../domain/images/image-type.js";
import {
  admitRequestSize,
  admitSizes,
  admitType,
  requireFiles,
  UPLOAD_LIMITS,
} from "../../../domain/images/upload-rules.js";
import { type BrokenRule, invalidRequest } from "../../../domain/invalid-request.js";

const MIB = 1024 * 1024;
const refused = (field: string, rule: BrokenRule, index?: number) => err(invalidRequest(field, rule, index));

const beginnings = {
  "image/jpeg": Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 0x10, 0x4a, 0x46, 0x49, 0x46, 0, 1),
  "image/png": Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d),
  "image/webp": Buffer.from("RIFF\x10\x00\x00\x00WEBP", "latin1"),
} as const;

describe("an upload", () => {
  it("has at most 25 MiB in the whole request", () => {
    expect(admitRequestSize(25 * MIB, UPLOAD_LIMITS)).toEqual(ok(undefined));
    const tooLarge = refused("body", { name: "bytes_max", max: 26_214_400 });
    expect(admitRequestSize(25 * MIB + 1, UPLOAD_LIMITS)).toEqual(tooLarge);
    expect(admitRequestSize(Number.NaN, UPLOAD_LIMITS)).toEqual(tooLarge);
  });

  it.each<[string, number[], number[], BrokenRule, number?]>([
    ["five files", [1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1], { name: "files_max", max: 5 }],
    ["10 MiB in each file", [10 * MIB, 10 * MIB], [1, 10 * MIB + 1], { name: "bytes_max", max: 10_485_760 }, 1],
    ["20 MiB in all", [10 * MIB, 10 * MIB], [10 * MIB, 10 * MIB, 1], { name: "total_bytes_max", max: 20_971_520 }],
  ])("has at most %s", (_, most, more, rule, index) => {
    expect(admitSizes(most, UPLOAD_LIMITS)).toEqual(ok(undefined));
    expect(admitSizes(more, UPLOAD_LIMITS)).toEqual(refused("files", rule, index));
  });

  it("stays too large once it exceeds a limit", () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 11 * MIB }), { maxLength: 7 });
    return fc.assert(
      fc.property(sizes, sizes, (soFar, rest) => {
        if (admitSizes(soFar, UPLOAD_LIMITS).isErr())
          expect(admitSizes([...soFar, ...rest], UPLOAD_LIMITS).isErr()).toBe(true);
      }),
    );
  });

  it("has at least one file", () => {
    expect(requireFiles(1, UPLOAD_LIMITS)).toEqual(ok(undefined));
    expect(requireFiles(0, UPLOAD_LIMITS)).toEqual(refused("files", { name: "files_required", max: 5 }));
  });
});

describe("the type of an uploaded file", () => {
  const pairs = IMAGE_TYPES.flatMap((type) => IMAGE_TYPES.map((declared) => [type, declared] as const));

  it.each(pairs)("%s, declared as %s, is accepted only if both are the same", (type, declared) => {
    expect(admitType(2, beginnings[type], declared)).toEqual(
      type === declared ? ok(type) : refused("files", { name: "declared_type", declared, actual: type }, 2),
    );
  });

  it.each([
    [undefined, "", "application/octet-stream", "binary/octet-stream", "text/plain; charset=utf-8", "image", "/"],
    ["*/*", "image/*", "multipart/form-data", "application/x-unknown", "application/force-download", "binary/download"],
    [
      "IMAGE/PNG",
      "image/png; charset=binary",
      " image/png ",
      "image/x-png",
      "application/png",
      "(text/html",
      "text/html)",
    ],
  ])("equals the type of its bytes if %j is declared", (...names) => {
    for (const declared of names) expect(admitType(0, beginnings["image/png"], declared)).toEqual(ok("image/png"));
  });

  it.each([
    ["image/jpeg", ["image/jpg", "image/pjpeg", "image/pjpg", "image/x-jpg", "image/x-citrix-jpeg", "image/jfif"]],
    ["image/png", ["image/x-png", "image/x-citrix-png"]],
    ["image/webp", ["image/x-webp"]],
  ] as const)("accepts the aliases of %s for %s only", (type, names) => {
    const other = type === "image/png" ? "image/jpeg" : "image/png";
    for (const declared of names) {
      expect(admitType(0, beginnings[type], declared)).toEqual(ok(type));
      const refusal = refused("files", { name: "declared_type", declared, actual: other }, 0);
      expect(admitType(0, beginnings[other], declared)).toEqual(refusal);
    }
  });

  it.each([
    ["image/png", ["text/html", "image/gif", "image/heic", "application/pdf", "image/apng", "image/svg+xml"]],
    ["image/png", ["ximage/png", "image/pngx", "text/plainx", "xtext/plain", "a/octet-streams"]],
    ["image/png", ["multipart/form-datax", "xmultipart/form-data", "xapplication/binary", "application/binaryx"]],
    ["image/jpeg", ["ximage/jpeg", "image/jpegx"]],
    ["image/webp", ["ximage/webp", "image/webpx"]],
  ] as const)("%s is refused with another declared type: %j", (type, names) => {
    for (const declared of names) {
      const refusal = refused("files", { name: "declared_type", declared, actual: type }, 0);
      for (const spelling of [declared, ` ${declared.toUpperCase()} ;`, `${declared}; charset=utf-8`]) {
        expect(admitType(0, beginnings[type], spelling)).toEqual(refusal);
      }
    }
  });

  it.each<[string, Uint8Array]>([
    ["an empty file", Uint8Array.of()],
    ["a GIF", Buffer.from("GIF89a\x01\x00\x01\x00\x80\x00", "latin1")],
    ["an SVG", Buffer.from("<svg xmlns=''>")],
    ["a page", Buffer.from("<html><body>")],
  ])("is refused for %s with any declared type", (_, bytes) => {
    const unknownType = refused("files", { name: "image_type", allowed: ["image/jpeg", "image/png", "image/webp"] }, 0);
    for (const declared of [...IMAGE_TYPES, "image/gif", undefined]) {
      expect(admitType(0, bytes, declared)).toEqual(unknownType);
    }
  });
});
