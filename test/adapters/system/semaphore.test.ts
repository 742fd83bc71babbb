import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Semaphore } from "../../../adapters/system/semaphore.js";

describe("Semaphore", () => {
  it("runs at most two pieces of work at once, in order of arrival, also after one fails", async () => {
    const semaphore = new Semaphore(2);
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const works = Array.from({ length: 5 }, (_, number) =>
      semaphore.run(async () => {
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
    expect(await semaphore.run(async () => "free again")).toBe("free again");
  });

  it("serves waiting owners in turn, regardless of their number of entries", async () => {
    const semaphore = new Semaphore(1);
    const done: string[] = [];
    const work = (name: string, owner?: string) => semaphore.run(async () => void done.push(name), owner);
    const many = [1, 2, 3, 4].map((number) => work(`many ${number}`, "many"));
    const others = [work("few 1", "few"), work("service"), work("few 2", "few")];
    await Promise.all([...many, ...others]);
    expect(done).toEqual(["many 1", "many 2", "few 1", "service", "many 3", "few 2", "many 4"]);
  });
});
