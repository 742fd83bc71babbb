import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { atMost } from "../../../adapters/imaging/at-most.js";

describe("work in turn", () => {
  it("runs two at a time, in the order in which it was asked for, also when some of it fails", async () => {
    const inTurn = atMost(2);
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const works = Array.from({ length: 5 }, (_, number) =>
      inTurn(async () => {
        started.push(number);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (number === 1) throw new Error("failed");
        return number;
      }),
    );
    const outcomes = Promise.allSettled(works);
    for (const running of [2, 3, 4, 5, 5]) {
      await setImmediate();
      expect(started).toEqual([0, 1, 2, 3, 4].slice(0, running));
      ends.shift()?.();
    }
    await setImmediate();
    for (const end of ends) end();
    expect((await outcomes).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    expect(await inTurn(async () => "free again")).toBe("free again");
  });
});
