import { describe, expect, it } from "vitest";
import { ClockWatch, clockCheck } from "../../../adapters/observability/clock-watch.js";
import { Metrics } from "../../../adapters/observability/metrics.js";

const aWatch = () => {
  const lines: object[] = [];
  const write = (line: object) => lines.push(line);
  const metrics = new Metrics({ version: "1.0.0", node: "v20" });
  const watch = new ClockWatch({ warn: write, info: write }, metrics);
  const compared = (wallAheadMilliseconds: number, correctedMilliseconds = 0) =>
    watch.compared({ wallAheadMilliseconds, correctedMilliseconds });
  return { lines, metrics, compared };
};

describe("ClockWatch", () => {
  it("logs once that the clocks differ, and once that they agree again", () => {
    const { lines, compared } = aWatch();
    for (const ahead of [0, 4_999, -5_001, -600_000, 600_000, 5_000, 0]) compared(ahead);
    expect(lines).toEqual([
      { event: "clock_differs", aheadSeconds: -5.001 },
      { event: "clock_agrees", aheadSeconds: 5 },
    ]);
  });

  it("logs a set clock, but neither the first measurement nor measurement errors", () => {
    const { lines, compared } = aWatch();
    compared(0, 600_000);
    compared(0, 12);
    compared(0, -60_000);
    expect(lines).toEqual([{ event: "clock_set", seconds: -60 }]);
  });

  it("shows the difference in a metric", async () => {
    const { metrics, compared } = aWatch();
    compared(-2_500);
    expect(await metrics.text()).toContain("\npanorama_clock_difference_seconds -2.5\n");
  });
});

describe("clockCheck", () => {
  it.each([
    [0, true, "This machine's clock agrees with the database's."],
    [-10_000, true, "This machine's clock is 10 s behind the database's. Synchronize both (NTP)."],
    [300_000, true, "This machine's clock is 300 s ahead of the database's. Synchronize both (NTP)."],
    [301_000, false, "This machine's clock is 301 s ahead of the database's. Synchronize both (NTP)."],
    [-600_000, false, "This machine's clock is 600 s behind the database's. Synchronize both (NTP)."],
  ])("with a clock that is %i ms ahead: ready %s", (ahead, ok, detail) => {
    expect(clockCheck(ahead)).toEqual({ name: "clock", ok, detail });
  });
});
