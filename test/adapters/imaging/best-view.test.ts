import { describe, expect, it } from "vitest";
import { bestView } from "../../../adapters/imaging/best-view.js";

const [WIDTH, HEIGHT] = [720, 360];

/** A picture of one channel, by yaw and pitch in degrees. */
const picture = (levelAt: (yaw: number, pitch: number) => number) => ({
  data: Uint8Array.from({ length: WIDTH * HEIGHT }, (_, n) =>
    levelAt(((n % WIDTH) * 360) / WIDTH - 180, 90 - (Math.floor(n / WIDTH) * 180) / HEIGHT),
  ),
  width: WIDTH,
  height: HEIGHT,
  channels: 1,
  left: 0,
});

/** Stripes two pixels wide: details. */
const stripes = (yaw: number, level: number) => (Math.floor(yaw) % 2 === 0 ? level : level / 3);
const isNear = (yaw: number, middle: number) => Math.abs(((yaw - middle + 540) % 360) - 180) < 25;

describe("the best view of a picture", () => {
  it.each([-120, 60, 175])("points at the details at %i°, also across the seam", (middle) => {
    const found = bestView(
      picture((yaw, pitch) => (isNear(yaw, middle) && Math.abs(pitch) < 25 ? stripes(yaw, 240) : 40)),
    );
    expect(Math.abs((((found?.yaw ?? 0) - middle + 540) % 360) - 180)).toBeLessThanOrEqual(5);
    expect(found?.pitch).toBe(0);
  });

  it("points at the brighter of two parts with details, and higher if that is better", () => {
    const found = bestView(
      picture((yaw, pitch) => {
        if (isNear(yaw, -90) && Math.abs(pitch) < 25) return stripes(yaw, 90);
        return isNear(yaw, 90) && pitch > -10 && pitch < 35 ? stripes(yaw, 250) : 20;
      }),
    );
    expect(found?.yaw).toBeCloseTo(90, -1);
    expect(found?.pitch).toBeGreaterThan(0);
  });

  it("points at the middle of a picture without details, or with equal sides", () => {
    expect(bestView(picture((yaw) => (yaw > 90 ? 250 : yaw > 0 ? 90 : 30)))).toBeUndefined();
    expect(bestView(picture((yaw, pitch) => stripes(yaw, pitch > 0 ? 200 : 60)))).toBeUndefined();
  });
});
