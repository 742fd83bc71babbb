import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JoinedChunks } from "../../../../adapters/http/requests/joined-chunks.js";
import { MultipartReader } from "../../../../adapters/http/requests/multipart-reader.js";

const PIECE_BYTES = 16 * 1024;

/** The pieces of a body that arrives in chunks of these sizes. */
const joined = (sizes: readonly number[], isChunked = false) => {
  const chunks = new JoinedChunks(isChunked);
  const bytes = Buffer.from(Array.from({ length: sizes.reduce((sum, size) => sum + size, 0) }, (_, n) => n % 251));
  let at = 0;
  const pieces = sizes.flatMap((size) => {
    at += size;
    return chunks.add(bytes.subarray(at - size, at)) ?? [];
  });
  return { bytes, pieces: [...pieces, chunks.rest()], areTiny: chunks.areTiny };
};

const times = (count: number, size: number) => Array.from({ length: count }, () => size);

describe("the chunks of a body", () => {
  it("are joined to the same bytes, in pieces of 16 KiB or more", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 12 }), (sizes) => {
        const { bytes, pieces } = joined(sizes);
        expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
        for (const piece of pieces.slice(0, -1)) expect(piece.length).toBeGreaterThanOrEqual(PIECE_BYTES);
      }),
    );
  });

  it.each([
    ["one byte each, 64 KiB", times(65_536, 1), false],
    ["one byte each, more than 64 KiB", times(65_537, 1), true],
    ["63 bytes each", times(4_096, 63), true],
    ["64 bytes each", times(5_000, 64), false],
    ["tiny ones behind large ones", [...times(4, 65_536), ...times(4_096, 1)], true],
    ["tiny ones between large ones", times(2_000, 1).flatMap((one) => [one, 1, 4_000]), false],
    ["few tiny ones behind a large one", [100_000, ...times(4_000, 1)], false],
  ])("are refused as tiny, or not: %s", (_, sizes, areTiny) => {
    expect(joined(sizes, true).areTiny).toBe(areTiny);
    expect(joined(sizes, false).areTiny).toBe(false); // its length is declared
  });
});

/** Processor seconds. */
const cost = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000_000;
};

describe("a multipart body of which each byte comes alone", () => {
  const field = (headers: string, content: string) => `--x\r\n${headers}\r\n\r\n${content}\r\n`;
  it.each([
    ["one large field", field('content-disposition: form-data; name="a"', "v".repeat(64_000))],
    [
      "large headers",
      times(3, 0)
        .map(() => field(`x: ${"h".repeat(16_000)}`, "v"))
        .join(""),
    ],
    [
      "spaces behind a boundary",
      times(3, 0)
        .map(() => `--x${" ".repeat(16_000)}\r\na: 1\r\n\r\nv\r\n`)
        .join(""),
    ],
    ["a long boundary in the content", field("a: 1", "\r\n--".repeat(12_000))],
  ])("costs no more than if they came together: %s", (_, text) => {
    const bytes = Buffer.from(`${text}--x--\r\n`);
    const reader = new MultipartReader("x");
    const seconds = cost(() => {
      for (let at = 0; at < bytes.length; at += 1) reader.read(bytes.subarray(at, at + 1));
    });
    expect(reader.missing()).toBeUndefined();
    expect(seconds).toBeLessThan(0.6); // 4 s and more, when each byte was searched again
  });
});
