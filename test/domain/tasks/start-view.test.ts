import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStartView, startView, startViewText } from "../../../domain/tasks/start-view.js";

const tenths = (min: number, max: number) => fc.integer({ min: min * 10, max: max * 10 }).map((n) => n / 10 + 0);

describe("parseStartView", () => {
  it("reads what startViewText writes", () => {
    const field = fc.option(tenths(10, 150), { nil: undefined });
    fc.assert(
      fc.property(tenths(-180, 180), tenths(-90, 90), field, (yaw, pitch, fov) => {
        expect(parseStartView(startViewText({ yaw, pitch, fov }))).toEqual({ yaw, pitch, fov });
      }),
    );
  });

  it.each(["", "1", "181,0,75", "0,91,75", "0,0,9", "0,0,151", "1e2,0,75", "0,0,75,1", " 0,0", "0,0,<b>", "0.12,0"])(
    "refuses %j",
    (text) => {
      expect(parseStartView(text)).toBeUndefined();
      expect(() => startView(text)).toThrow(`${JSON.stringify(text)} cannot be a view, such as 12.5,-8,75`);
    },
  );
});
