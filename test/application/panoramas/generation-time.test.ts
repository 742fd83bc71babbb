import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aFailedTask, aSubmittedTask, aSucceededTask, noon } from "../../../adapters/contracts/builders.js";
import { generationTime } from "../../../application/panoramas/generation-time.js";

/** A task that succeeded this long after its submission. */
const lasting = (milliseconds: number) =>
  aSucceededTask({ submittedAt: noon, succeededAt: new Date(noon.getTime() + milliseconds) });

describe("generationTime", () => {
  it("knows nothing until a generation has succeeded", () => {
    const time = generationTime();
    time.add(aSubmittedTask());
    time.add(aFailedTask());
    expect(time.lately()).toBeUndefined();
    time.add(lasting(10_000));
    expect(time.lately()).toBe(10_000);
    time.add(aFailedTask());
    expect(time.lately()).toBe(10_000);
  });

  it("moves a fifth of the way to each new time, and stays between the shortest and the longest one", () => {
    const time = generationTime();
    time.add(lasting(10_000));
    time.add(lasting(20_000));
    expect(time.lately()).toBe(12_000);
    time.add(lasting(2_000));
    expect(time.lately()).toBe(10_000);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 600_000 }), { minLength: 1 }), (times) => {
        const lately = generationTime();
        for (const milliseconds of times) lately.add(lasting(milliseconds));
        expect(lately.lately()).toBeGreaterThanOrEqual(Math.min(...times) - 0.001);
        expect(lately.lately()).toBeLessThanOrEqual(Math.max(...times) + 0.001);
      }),
    );
  });
});
