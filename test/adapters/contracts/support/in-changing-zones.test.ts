import { describe, expect, it } from "vitest";
import { inChangingZones } from "../../../../adapters/contracts/support/in-changing-zones.js";

describe("an adapter in changing zones", () => {
  const offset = async () => new Date("2026-01-01T12:00:00Z").getTimezoneOffset();

  it("changes the zone in each call, also of its parts, and restores it after close", async () => {
    const before = await offset();
    const adapter = inChangingZones(Object.freeze({ offset, part: { offset }, close: offset }));
    expect([await adapter.offset(), await adapter.part.offset(), await adapter.offset()]).toEqual([-330, 210, -780]);
    expect([await adapter.close(), await offset()]).toEqual([before, before]);
  });
});
