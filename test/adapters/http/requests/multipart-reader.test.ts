import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MultipartReader, type Piece } from "../../../../adapters/http/requests/multipart-reader.js";

type Told = { readonly parts: readonly (readonly [headers: string, content: string])[]; readonly reason?: string };

/** What the reader tells of a body that arrives in these chunks; if it cannot be used, the parts before the fault. */
const told = (chunks: readonly Buffer[], boundary = "x"): Told => {
  const reader = new MultipartReader(boundary);
  const pieces = chunks.flatMap((chunk) => reader.read(chunk));
  const parts: [string, string][] = [];
  const texts = (piece: Piece): void => {
    if (piece.kind === "headers") parts.push([piece.bytes.toString("latin1"), ""]);
    const last = parts.at(-1);
    if (piece.kind === "content" && last) last[1] += piece.bytes.toString("latin1");
  };
  for (const piece of pieces) texts(piece);
  const broken = pieces.find((piece) => piece.kind === "broken");
  const reason = broken?.kind === "broken" ? broken.reason : reader.missing();
  const ended = pieces.filter(({ kind }) => kind === "end").length;
  if (reason === undefined) expect(ended).toBe(parts.length);
  return { parts: parts.slice(0, ended), ...(reason !== undefined && { reason }) };
};

const whole = (text: string, boundary?: string): Told => told([Buffer.from(text, "latin1")], boundary);

const LINE = "is not a line of its own that ends with CRLF";

describe("a multipart body", () => {
  it.each<[string, string, readonly (readonly [string, string])[]]>([
    ["one part", "--x\r\na: 1\r\n\r\nbytes\r\n--x--\r\n", [["a: 1", "bytes"]]],
    [
      "two parts",
      "--x\r\na: 1\r\n\r\none\r\n--x\r\nb: 2\r\nc: 3\r\n\r\ntwo\r\n--x--",
      [
        ["a: 1", "one"],
        ["b: 2\r\nc: 3", "two"],
      ],
    ],
    ["no part", "--x--", []],
    ["text around the parts", "to whom it may concern\r\n--x\r\na: 1\r\n\r\n\r\n--x--\r\nbye\r\n", [["a: 1", ""]]],
    ["spaces behind boundaries", "--x \t\r\na: 1\r\n\r\n1\r\n--x-- \r\n", [["a: 1", "1"]]],
    ["a part without headers", "--x\r\n\r\n1\r\n--x--", [["", "1"]]],
    ["a part that ends with its headers", "--x\r\na: 1\r\n\r\n--x--", [["a: 1", ""]]],
    ["a part without anything", "--x\r\n\r\n--x--", [["", ""]]],
    ["line breaks in the content", "--x\r\n\r\n\r\n\r\n-\r\n--\r\r\n--x--", [["", "\r\n\r\n-\r\n--\r"]]],
    ["the bytes of the boundary within a line", "--x\r\n\r\n1--x2 --x--\r\n--x--", [["", "1--x2 --x--"]]],
    ["the boundary in a header", "--x\r\na: --x\r\n\r\n1\r\n--x--", [["a: --x", "1"]]],
    ["a second last boundary", "--x\r\n\r\n1\r\n--x--\r\n--x--\r\n", [["", "1"]]],
  ])("returns the parts with %s", (_, text, parts) => {
    expect(whole(text)).toEqual({ parts });
  });

  it.each([
    ["is empty", "", "the boundary that its Content-Type names is not in it"],
    ["has another boundary", "--y\r\n\r\n1\r\n--y--", "the boundary that its Content-Type names is not in it"],
    ["has no last boundary", "--x\r\n\r\n1\r\n--x\r\n\r\n2", "part 2 has no boundary behind it"],
    ["ends within the last boundary", "--x\r\n\r\n1\r\n--x-", "part 1 has no boundary behind it"],
    ["ends within headers", "--x\r\na: 1\r\n", "part 1 has no boundary behind it"],
    ["has lines that end with LF", "--x\na: 1\n\n1\n--x--\n", `the boundary before part 1 ${LINE}`],
    ["has no line break before a boundary", "--x\r\n\r\n1--x\r\n\r\n2\r\n--x--", `the boundary behind part 1 ${LINE}`],
    ["has LF before a boundary", "--x\r\n\r\n1\n--x\r\n\r\n2\r\n--x--", `the boundary behind part 1 ${LINE}`],
    ["has LF behind a boundary", "--x\r\n\r\n1\r\n--x\n\r\n2\r\n--x--", `the boundary before part 2 ${LINE}`],
    ["has more behind a boundary", "--x\r\n\r\n1\r\n--xy\r\n\r\n2\r\n--x--", `the boundary before part 2 ${LINE}`],
    ["has a byte order mark", "\xef\xbb\xbf--x\r\n\r\n1\r\n--x--", `a boundary ${LINE}`],
    [
      "has headers without a blank line",
      "--x\r\na: 1\r\n--x\r\n\r\n2\r\n--x--",
      "part 1 has no blank line behind its headers",
    ],
    ["has no headers at all", "--x\r\n--x\r\n\r\n2\r\n--x--", "part 1 has no blank line behind its headers"],
    [
      "has a part behind the last boundary",
      "--x--\r\n--x\r\n\r\n1\r\n--x--",
      "Unexpected part after the last boundary",
    ],
    [
      "has headers of 17 kB",
      `--x\r\na: ${"1".repeat(17_000)}\r\n\r\n\r\n--x--`,
      "part 1 has more than 16 KiB of headers",
    ],
    ["has headers without end", `--x\r\na: ${"1".repeat(17_000)}`, "part 1 has more than 16 KiB of headers"],
    ["has a boundary line without end", `--x${" ".repeat(17_000)}`, `the boundary before part 1 ${LINE}`],
  ])("reports the reason if it %s", (_, text, reason) => {
    expect(whole(text).reason).toBe(reason);
  });

  it("gives the same parts for every chunking", () => {
    const token = fc.constantFrom(
      "\r\n",
      "\r",
      "\n",
      "--",
      "-",
      "--x",
      "\r\n--x",
      "--x--",
      "a: 1",
      "\r\n\r\n",
      " ",
      "1",
    );
    const text = fc.array(token, { maxLength: 30 }).map((tokens) => `--x\r\n${tokens.join("")}`);
    return fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 60 })), (body, cuts) => {
        const places = [0, ...cuts.map((cut) => Math.min(cut, body.length)), body.length].sort((a, b) => a - b);
        const chunks = places.slice(1).map((end, n) => Buffer.from(body.slice(places[n], end), "latin1"));
        expect(told(chunks)).toEqual(whole(body));
        const bytes = [...body].map((character) => Buffer.from(character, "latin1"));
        expect(told(bytes)).toEqual(whole(body));
      }),
    );
  });

  it("brings every part of a correct body, byte for byte", () => {
    const content = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
    const boundary = fc.stringMatching(/^[0-9A-Za-z'()+_,./:=?-]{8,70}$/);
    return fc.assert(
      fc.property(fc.array(content, { maxLength: 6 }), boundary, fc.boolean(), (contents, name, hasPreamble) => {
        const parts = contents.map((bytes, n): [string, string] => [`n: ${n}`, bytes]);
        const body = parts.map(([headers, bytes]) => `--${name}\r\n${headers}\r\n\r\n${bytes}\r\n`).join("");
        expect(whole(`${hasPreamble ? "\r\n" : ""}${body}--${name}--\r\n`, name)).toEqual({ parts });
      }),
    );
  });

  it("returns content before the part is complete", () => {
    const reader = new MultipartReader("boundary");
    reader.read(Buffer.from("--boundary\r\n\r\n"));
    const pieces = reader.read(Buffer.alloc(1000));
    expect(pieces).toEqual([{ kind: "content", bytes: Buffer.alloc(1000 - "--boundary".length - 3) }]);
  });
});
