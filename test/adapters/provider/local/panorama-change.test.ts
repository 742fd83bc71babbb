import { describe, expect, it } from "vitest";
import { luminance } from "../../../../adapters/provider/local/painter/colour.js";
import { paintColumns } from "../../../../adapters/provider/local/painter/paint.js";
import { meanColour, type Reference } from "../../../../adapters/provider/local/painter/references.js";
import { sceneOf } from "../../../../adapters/provider/local/painter/scene-of.js";

const size = { widthPixels: 128, heightPixels: 64 };

const painted = (prompt: string | undefined, references: readonly Reference[]): Reference => {
  const pixels = new Uint8Array(size.widthPixels * size.heightPixels * 3);
  const scene = sceneOf(prompt, references);
  // In two strips, as two threads paint it.
  paintColumns({ scene, references, size, from: 0, to: 50, pixels });
  paintColumns({ scene, references, size, from: 50, to: 128, pixels });
  return { ...size, pixels };
};
const lake = painted("a quiet lake in the mountains on a sunny day", []);
const light = (picture: Reference, from = 0, to = 1) => luminance(meanColour([picture], from, to));

describe("a panorama as the only reference of the local painter", () => {
  it.each([undefined, "the same", "without the people", "a castle in the forest"])("stays as it is by %j", (prompt) => {
    expect(painted(prompt, [lake]).pixels).toEqual(lake.pixels);
  });

  it("gets the light and the weather of the words, and keeps what it shows", () => {
    const [night, sunset, fog, snow] = ["at night", "at sunset", "in fog", "with snow"].map((words) =>
      painted(`the same ${words}`, [lake]),
    ) as [Reference, Reference, Reference, Reference];
    expect(light(night)).toBeLessThan(0.3 * light(lake));
    const [red, , blue] = meanColour([sunset], 0.4, 0.6);
    expect(red).toBeGreaterThan(1.5 * blue);
    const spread = (picture: Reference) => {
      const rows = [0.45, 0.47, 0.49, 0.51, 0.53].map((from) => light(picture, from, from + 0.02));
      return Math.max(...rows) - Math.min(...rows);
    };
    expect(spread(fog)).toBeLessThan(0.5 * spread(lake));
    expect(light(snow, 0.7, 1)).toBeGreaterThan(1.5 * light(lake, 0.7, 1));
    for (const changed of [night, sunset, fog, snow]) expect(light(changed, 0, 0.2)).toBeGreaterThan(0);
  });

  it("can be changed again: three times in a row", () => {
    const night = painted("at night", [lake]);
    const snowy = painted("snow", [painted("fog", [night])]);
    expect(light(snowy)).toBeLessThan(0.5 * light(lake));
    expect(light(painted("daylight", [snowy]))).toBeGreaterThan(2 * light(snowy));
  });

  it("is projected as a photo beside another reference", () => {
    expect(sceneOf("at night", [lake, lake]).panorama).toBeUndefined();
  });
});
