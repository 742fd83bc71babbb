import fc from "fast-check";
import { expect, it } from "vitest";
import { flawOf, type Picture } from "../../domain/picture.js";

const picture = fc.record<Picture>({
  nativeSize: fc.constant({ widthPixels: 1440, heightPixels: 720 }),
  isFlat: fc.boolean(),
  seam: fc.double({ min: 0, max: 255, noNaN: true }),
  poles: fc.nat({ max: 255 }),
});
const seamMax = fc.option(fc.double({ min: 0, max: 255, noNaN: true }), { nil: undefined });

it("flawOf accepts exactly the pictures that are not flat and whose seam is at most the limit, if there is one", () => {
  fc.assert(
    fc.property(picture, seamMax, (one, max) => {
      const usable = !one.isFlat && (max === undefined || one.seam <= max);
      expect(flawOf(one, max) === undefined).toBe(usable);
    }),
  );
});

it("flawOf says what is wrong with the picture", () => {
  const good = { nativeSize: { widthPixels: 1440, heightPixels: 720 }, isFlat: false, seam: 12.5, poles: 3 };
  expect(flawOf({ ...good, isFlat: true }, undefined)).toBe("it is a single flat colour");
  expect(flawOf(good, 12.5)).toBeUndefined();
  expect(flawOf(good, 10)).toBe("its seam of 12.5 is above 10");
});
