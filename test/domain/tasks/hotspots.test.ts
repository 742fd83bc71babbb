import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type GivenHotspot, HOTSPOTS_MAX, linksOf, parseHotspots } from "../../../domain/tasks/hotspots.js";
import { slug } from "../../../domain/tasks/slug.js";

const SLUGS = ["aaaaaaaaaaaaaaaa", "0123456789abcdef"].map(slug);

const given = fc.record<GivenHotspot>({
  yaw: fc.double({ min: -180, max: 180, noNaN: true }),
  pitch: fc.double({ min: -90, max: 90, noNaN: true }),
  note: fc
    .string({ minLength: 1, maxLength: 200, unit: "grapheme" })
    .map((text) => [...`x${text}`].slice(0, 200).join("")),
  to: fc.option(fc.constantFrom(...SLUGS), { nil: undefined }),
});
const list = fc.array(given, { maxLength: HOTSPOTS_MAX });
const one = (differences: Partial<GivenHotspot> = {}): GivenHotspot => ({
  yaw: 12.5,
  pitch: -8,
  note: "A pier",
  ...differences,
});

describe("parseHotspots", () => {
  it("accepts every list within the limits, and stores give back what it returns", () => {
    fc.assert(
      fc.property(list, (hotspots) => {
        const parsed = parseHotspots(hotspots)._unsafeUnwrap();
        expect(parsed).toHaveLength(hotspots.length);
        expect(JSON.parse(JSON.stringify(parsed))).toEqual(parsed);
        expect(parseHotspots(parsed)._unsafeUnwrap()).toEqual(parsed);
        for (const [n, { yaw, pitch, note, to }] of parsed.entries()) {
          expect([
            Math.abs(yaw - hotspots[n]!.yaw) <= 0.05001,
            Math.abs(pitch - hotspots[n]!.pitch) <= 0.05001,
          ]).toEqual([true, true]);
          expect([/[\n\r\t\0]/.test(note), note.trim() === note, to]).toEqual([false, true, hotspots[n]!.to]);
        }
      }),
    );
  });

  it("makes one line of a note", () => {
    const [hotspot] = parseHotspots([one({ note: "  A pier\r\n\tof \u0000 wood\u0007 " })])._unsafeUnwrap();
    expect(hotspot?.note).toBe("A pier of wood");
  });

  it.each<[string, Partial<GivenHotspot>, object]>([
    ["yaw", { yaw: 180.04 }, { name: "degrees", max: 180, actual: 180.04 }],
    ["yaw", { yaw: Number.NaN }, { name: "degrees", max: 180, actual: Number.NaN }],
    ["pitch", { pitch: -91 }, { name: "degrees", max: 90, actual: -91 }],
    ["note", { note: " \n " }, { name: "characters", min: 1, max: 200, actual: 0 }],
    ["note", { note: "😀".repeat(201) }, { name: "characters", min: 1, max: 200, actual: 201 }],
    ["note", { note: "half \ud800" }, { name: "storable_text" }],
    ["to", { to: "../login" }, { name: "own_panorama", actual: "../login" }],
    ["to", { to: "" }, { name: "own_panorama", actual: "" }],
  ])("names the %s, and the hotspot that breaks its rule", (field, differences, rule) => {
    fc.assert(
      fc.property(fc.array(given, { maxLength: HOTSPOTS_MAX - 1 }), (before) => {
        const refusal = parseHotspots([...before, one(differences), one({ yaw: 999 })].slice(0, before.length + 1));
        expect(refusal._unsafeUnwrapErr()).toEqual({ kind: "invalid_request", field, index: before.length, rule });
      }),
    );
  });

  it("accepts 20 and refuses 21", () => {
    const many = (count: number) => parseHotspots(Array.from({ length: count }, () => one()));
    expect(many(20).isOk()).toBe(true);
    expect(many(21)._unsafeUnwrapErr()).toMatchObject({ rule: { name: "items_max", max: 20, actual: 21 } });
  });
});

describe("linksOf", () => {
  it("names each panorama once", () => {
    fc.assert(
      fc.property(list, (hotspots) => {
        const parsed = parseHotspots(hotspots)._unsafeUnwrap();
        const links = linksOf(parsed);
        expect(new Set(links).size).toBe(links.length);
        expect(new Set(links)).toEqual(new Set(hotspots.flatMap(({ to }) => to ?? [])));
      }),
    );
    expect(linksOf(undefined)).toEqual([]);
  });
});
