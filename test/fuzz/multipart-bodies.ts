import fc from "fast-check";
import { oddText } from "./odd-values.js";

const SIGNATURES = {
  "image/jpeg": Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46]),
  "image/png": Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]),
  "image/webp": Buffer.from("RIFF\x10\0\0\0WEBPVP8 ", "latin1"),
  "text/html": Buffer.from("<!doctype html>"),
};

type Part = { readonly head: readonly string[]; readonly content: Buffer };

const file: fc.Arbitrary<Part> = fc
  .tuple(
    fc.constantFrom(...Object.entries(SIGNATURES)),
    fc.constantFrom("image/jpeg", "image/png", "image/webp", "image/jpg", "text/plain", undefined),
    fc.constantFrom("a.jpg", "", "../../a.jpg", "é.png", 'a"b.png', "x".repeat(5_000)),
    fc.constantFrom(0, 1, 100, 70_000),
    fc.constantFrom("files", "files", "files", "files", "file", "files[]", ""),
  )
  .map(([[type, signature], declared, filename, bytes, name]) => ({
    head: [
      `content-disposition: form-data; name="${name}"; filename="${filename}"`,
      ...(declared === undefined ? [] : [`content-type: ${declared === "text/plain" ? type : declared}`]),
    ],
    content: Buffer.concat([signature, Buffer.alloc(bytes)]),
  }));

/** Parts that a correct client never sends. */
const oddPart: fc.Arbitrary<Part> = fc.oneof(
  oddText.map((text) => ({ head: ['content-disposition: form-data; name="files"'], content: Buffer.from(text) })),
  oddText.map((text) => ({ head: [`content-disposition: form-data; name="${text}"; filename="a"`], content: JPEG })),
  fc
    .constantFrom(
      [],
      [""],
      ["content-disposition: form-data"],
      ['content-disposition: attachment; name="files"; filename="a"'],
      ["content-disposition: form-data; name=\"files\"; filename*=UTF-8''%ff%zz"],
      ['content-disposition: form-data; name="files'],
      ["content-disposition: form-data; name=files; filename=a", "content-transfer-encoding: base64"],
      ['content-disposition: form-data; name="files"; filename="a"', "content-type: multipart/mixed; boundary=inner"],
      ['content-disposition: form-data; name="files"; filename="a"', "content-type: /"],
      Array.from({ length: 60 }, (_, n) => `x-${n}: 1`),
      [`x: ${"y".repeat(100_000)}`],
      ["no colon"],
      ["\0: \0"],
    )
    .map((head) => ({ head, content: JPEG })),
  fc.constant({
    head: ['content-disposition: form-data; name="files"', "content-type: multipart/mixed; boundary=inner"],
    content: Buffer.from('--inner\r\ncontent-disposition: attachment; filename="a.jpg"\r\n\r\nx\r\n--inner--\r\n'),
  }),
);

const JPEG = SIGNATURES["image/jpeg"];

const parts = fc.oneof(
  { weight: 4, arbitrary: fc.array(file, { minLength: 1, maxLength: 7 }) },
  { weight: 2, arbitrary: fc.array(fc.oneof(file, oddPart), { maxLength: 8 }) },
  { weight: 1, arbitrary: fc.tuple(file, fc.constantFrom(49, 50, 51, 60)).map(([one, n]) => Array(n).fill(one)) },
);

const BOUNDARIES = ["fuzz", "fuzz", "fuzz", "x".repeat(70), "x".repeat(300), "a b", "=", "--"] as const;

/** What is wrong with the frame around the parts. */
const FRAMES = [
  "right",
  "right",
  "right",
  "no end",
  "no start",
  "line feeds",
  "text around",
  "another boundary",
  "end first",
  "truncated",
  "empty",
] as const;

const TYPES = [
  (boundary: string) => `multipart/form-data; boundary=${boundary}`,
  (boundary: string) => `multipart/form-data; boundary="${boundary}"`,
  (boundary: string) => `Multipart/Form-Data; charset=utf-8; boundary=${boundary}`,
  () => "multipart/form-data",
  () => "multipart/form-data; boundary=",
  () => 'multipart/form-data; boundary="',
  () => "multipart/mixed; boundary=fuzz",
  () => "application/json",
];

/** The body of an upload: right ones, and broken ones. */
export const multipartBody = fc
  .tuple(
    parts,
    fc.constantFrom(...BOUNDARIES),
    fc.constantFrom(...FRAMES),
    fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.nat({ max: TYPES.length - 1 })),
    fc.nat({ max: 99 }),
  )
  .map(([list, boundary, frame, type, percent]) => {
    const chunks = list.flatMap(({ head, content }, n) => [
      frame === "no start" && n === 0 ? "" : `--${frame === "another boundary" ? "other" : boundary}\r\n`,
      `${[...head, "", ""].join("\r\n")}`,
      content,
      "\r\n",
    ]);
    if (frame !== "no end") chunks.push(`--${boundary}--\r\n`);
    if (frame === "end first") chunks.unshift(`--${boundary}--\r\n`);
    if (frame === "text around") {
      chunks.unshift("preamble\r\n");
      chunks.push("epilogue");
    }
    let bytes = Buffer.concat(
      chunks.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk, "latin1") : chunk)),
    );
    if (frame === "line feeds") bytes = Buffer.from(bytes.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
    if (frame === "truncated") bytes = bytes.subarray(0, Math.floor((bytes.length * percent) / 100));
    if (frame === "empty") bytes = Buffer.alloc(0);
    return { headers: [`content-type: ${(TYPES[type] ?? TYPES[0])?.(boundary)}`], bytes };
  });
