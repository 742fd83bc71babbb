import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  adoptSetting,
  confirmSetting,
  firstRetention,
  isLonger,
  longer,
  RETENTION_GRACE_MILLISECONDS,
  type Retention,
} from "../../../domain/images/retention.js";

const noon = new Date("2026-01-01T12:00:00.000Z");
const later = (milliseconds: number) => new Date(noon.getTime() + milliseconds);
const aTime = fc.option(fc.integer({ min: 1, max: 5 }), { nil: null });

describe("retention", () => {
  it("begins with the setting, unless that would erase more than before", () => {
    expect(firstRetention(36, false)).toEqual({ inForce: 36 });
    expect(firstRetention(36, true)).toEqual({ inForce: null });
  });

  it("is never shortened by settings, whatever instances start with, without a confirmation", () => {
    return fc.assert(
      fc.property(aTime, fc.array(fc.tuple(aTime, fc.nat(1e9))), (first, settings) => {
        let retention: Retention = { inForce: first };
        for (const [setting, milliseconds] of settings) {
          const next = adoptSetting(retention, setting, later(milliseconds));
          expect(isLonger(retention.inForce, next.inForce)).toBe(false);
          expect(isLonger(setting, next.inForce)).toBe(false);
          retention = next;
        }
        expect(retention.inForce).toBe(settings.reduce((all, [setting]) => longer(all, setting), first));
      }),
    );
  });

  it("is shortened by a confirmation, after the grace", () => {
    const confirmed = confirmSetting({ inForce: 365 }, 36, true, noon);
    expect(confirmed).toEqual({ inForce: 365, confirmed: { time: 36, from: later(RETENTION_GRACE_MILLISECONDS) } });
    expect(adoptSetting(confirmed, 36, later(RETENTION_GRACE_MILLISECONDS - 1))).toBe(confirmed);
    expect(adoptSetting(confirmed, 36, later(RETENTION_GRACE_MILLISECONDS))).toEqual({ inForce: 36 });
    expect(confirmSetting(confirmed, 36, true, later(5))).toBe(confirmed);
    expect(confirmSetting({ inForce: 365 }, 36, false, noon)).toEqual({ inForce: 36 });
  });

  it("takes a confirmation back when an instance has a longer setting, even if the grace is over", () => {
    return fc.assert(
      fc.property(fc.integer({ min: 1, max: 364 }), fc.nat(2 * RETENTION_GRACE_MILLISECONDS), (time, milliseconds) => {
        const confirmed = confirmSetting({ inForce: 365 }, time, true, noon);
        for (const setting of [time + 1, 365]) {
          expect(adoptSetting(confirmed, setting, later(milliseconds))).toEqual({ inForce: 365 });
        }
        expect(adoptSetting(confirmed, null, later(milliseconds))).toEqual({ inForce: null });
      }),
    );
  });

  it("is longer at once when a longer setting is confirmed", () => {
    expect(confirmSetting({ inForce: 36 }, 365, true, noon)).toEqual({ inForce: 365 });
    expect(confirmSetting({ inForce: 36 }, null, true, noon)).toEqual({ inForce: null });
  });
});
