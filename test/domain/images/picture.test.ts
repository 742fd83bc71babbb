import fc from "fast-check";
import { expect, it } from "vitest";
import {
  figuresOf,
  type Picture,
  type ResultBounds,
  resultUrlOf,
  startViewText,
  unusableReasonOf,
} from "../../../domain/images/picture.js";

const level = fc.double({ min: 0, max: 255, noNaN: true });
const picture: fc.Arbitrary<Picture> = fc.record({
  nativeSize: fc.constant({ widthPixels: 1440, heightPixels: 720 }),
  isFlat: fc.boolean(),
  seam: level,
  seamRatio: level,
  poleDeviation: fc.record({ zenith: level, nadir: level }),
  horizon: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
});
const bound = fc.option(level, { nil: undefined });
const bounds: fc.Arbitrary<ResultBounds> = fc.record({
  seamMax: bound,
  seamRatioMax: bound,
  poleDeviationMax: bound,
});

it("unusableReasonOf accepts exactly the pictures that are not flat and keep every bound that is set", () => {
  const within = (figure: number, max: number | undefined) => max === undefined || figure <= max;
  fc.assert(
    fc.property(picture, bounds, (one, { seamMax, seamRatioMax, poleDeviationMax }) => {
      const { zenith, nadir } = one.poleDeviation;
      const usable =
        !one.isFlat &&
        within(one.seam, seamMax) &&
        within(one.seamRatio, seamRatioMax) &&
        within(zenith, poleDeviationMax) &&
        within(nadir, poleDeviationMax);
      expect(unusableReasonOf(one, { seamMax, seamRatioMax, poleDeviationMax }) === undefined).toBe(usable);
    }),
  );
});

const good: Picture = {
  nativeSize: { widthPixels: 1440, heightPixels: 720 },
  isFlat: false,
  seam: 12.5,
  seamRatio: 1.75,
  poleDeviation: { zenith: 3, nadir: 8.25 },
  horizon: 0.5,
  view: { yaw: 10, pitch: 0 },
  colour: "#102030",
};

it.each<[string, Picture, ResultBounds, string | undefined]>([
  ["a flat picture", { ...good, isFlat: true }, {}, "it is a single flat colour"],
  ["a picture at each bound", good, { seamMax: 12.5, seamRatioMax: 1.75, poleDeviationMax: 8.25 }, undefined],
  ["a seam", good, { seamMax: 10 }, "its seam of 12.5 is above 10"],
  ["a seam ratio", good, { seamRatioMax: 1.5 }, "its seam ratio of 1.75 is above 1.5"],
  ["the worse pole", good, { poleDeviationMax: 8 }, "its pole deviation of 8.25 is above 8"],
])("unusableReasonOf returns the reason of %s", (_, one, bounds, flaw) => {
  expect(unusableReasonOf(one, bounds)).toBe(flaw);
});

it("figuresOf drops native size and flatness", () => {
  const { nativeSize: _, isFlat: __, ...figures } = good;
  expect(figuresOf(good)).toStrictEqual(figures);
});

it("startViewText has both angles, to a tenth of a degree", () => {
  expect(startViewText({ yaw: 10, pitch: -12.345 })).toBe("10,-12.3");
});

it("resultUrlOf normalizes a URL as new URL() does", () => {
  const normalized = "https://p.example/a%00%20%C3%BC.jpg?x=%00y";
  expect(resultUrlOf(" HTTPS://P.example:443/a\u0000 ü.jpg?x=\u0000y")).toBe(normalized);
  expect(resultUrlOf("http://p.example")).toBe("http://p.example/");
});

it.each(["", "p.example/1.jpg", "/1.jpg", "https://", "ftp://p.example/1.jpg", "data:image/png,", "javascript:1"])(
  "resultUrlOf returns undefined for %j",
  (text) => expect(resultUrlOf(text)).toBeUndefined(),
);

it("resultUrlOf returns visible ASCII, and its own result unchanged", () => {
  const unit = fc.constantFrom(..."\n aü?#/@:%\\", "\u0000", "\ud800", "\u{1f30a}");
  const texts = fc.tuple(fc.constantFrom("", "http:", "https://", "https://p.example/"), fc.string({ unit }));
  fc.assert(
    fc.property(texts, ([start, rest]) => {
      const url = resultUrlOf(start + rest);
      if (url === undefined) return;
      expect(url).toMatch(/^https?:\/\/[\x21-\x7e]+$/);
      expect(resultUrlOf(url)).toBe(url);
    }),
  );
});
