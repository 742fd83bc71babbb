import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { progressOn } from "../../../adapters/terminal/progress-display.js";

const CLEAR_LINE = "\r\u001b[2K";

const aStream = (terminal: { isTTY?: boolean; columns?: number }) => {
  const written: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      written.push(String(chunk));
      done();
    },
  });
  return { written, stream: Object.assign(stream, terminal) };
};

describe("the progress of panorama generate", () => {
  it("draws a bar on a terminal that never wraps and is cleared at the end", async () => {
    const clock = new HandClock();
    const { stream, written } = aStream({ isTTY: true, columns: 60 });
    const progress = progressOn(stream, clock);
    progress.step(`Generating ${"x".repeat(100)}`);
    await clock.advance(200);
    expect(written).toEqual([`${CLEAR_LINE}${"░".repeat(24)} 0 s  Generating ${"x".repeat(18)}`]);
    await clock.advance(29_800);
    const last = written.at(-1)?.replace(CLEAR_LINE, "");
    expect(last).toMatch(/^█{15}░{9} 30 s {2}Generating x+$/);
    expect(last).toHaveLength(59);
    progress.clear();
    expect(written.at(-1)).toBe(CLEAR_LINE);
    await clock.advance(200);
    expect(written.at(-1)).toContain("30 s");
    progress.end();
    expect(written.at(-1)).toBe(CLEAR_LINE);
    await clock.advance(1_000);
    expect(written.at(-1)).toBe(CLEAR_LINE);
    expect(clock.sleeping).toBe(0);
  });

  it("writes plain lines on a stream that is not a terminal", () => {
    const { stream, written } = aStream({});
    const progress = progressOn(stream, new HandClock());
    progress.step("Creating");
    progress.step("Generating");
    progress.end();
    expect(written).toEqual(["Creating\n", "Generating\n"]);
  });
});
