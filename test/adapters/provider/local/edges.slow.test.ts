import { expect, it } from "vitest";
import type { Paint } from "../../../../adapters/provider/local/painter/colour.js";
import { Lightning } from "../../../../adapters/provider/local/painter/lightning.js";
import { Props } from "../../../../adapters/provider/local/painter/props.js";
import { sceneOf } from "../../../../adapters/provider/local/painter/scene-of.js";

/** The blue that lightning adds in a direction, at a height on the unit sphere. */
const lightOf = (lightning: Lightning, azimuth: number, y: number): number => {
  const out = Math.sqrt(1 - y * y);
  const paint: Paint = [0, 0, 0];
  lightning.paint(paint, { row: 0, x: Math.sin(azimuth) * out, y, z: Math.cos(azimuth) * out, angleToLight: 0 });
  return paint[2];
};

it("the glow of lightning ends nowhere at an edge", () => {
  const lightning = new Lightning(7);
  // From the horizon to the zenith, in every direction, but not across a bolt.
  let steepest = 0;
  for (let azimuth = -Math.PI; azimuth < Math.PI; azimuth += 0.1) {
    let before: number | undefined;
    for (let y = 0.4; y < 1; y += 0.002) {
      const light = lightOf(lightning, azimuth, y);
      if (before !== undefined) steepest = Math.max(steepest, Math.abs(light - before));
      before = light;
    }
  }
  expect(steepest).toBeLessThan(0.006);
});

it("bolts fade out at their top in the clouds", () => {
  const lightning = new Lightning(7);
  const top = 0.36;
  let [brightest, steepest] = [0, 0];
  for (let azimuth = -Math.PI; azimuth < Math.PI; azimuth += 0.001) {
    brightest = Math.max(brightest, lightOf(lightning, azimuth, top - 0.05));
    const [below, above] = [top - 0.001, top + 0.001].map((y) => lightOf(lightning, azimuth, y)) as [number, number];
    steepest = Math.max(steepest, Math.abs(below - above));
  }
  expect(brightest).toBeGreaterThan(3);
  expect(steepest).toBeLessThan(0.03);
});

/** For each palm of the first rings, the greatest opacity in each of its columns from left to right. */
const palmsOn = (groundAt: (azimuth: number) => number): number[][] => {
  const scene = sceneOf("a tropical beach with palms", []);
  const set = scene.land?.props;
  if (set?.kind !== "palm") throw new Error("the beach has no palms");
  const props = new Props(scene, set);
  const palms = new Map<number, number[]>();
  const columns = 2048;
  for (let column = 0; column < columns; column++) {
    const azimuth = (column / columns) * 2 * Math.PI - Math.PI;
    for (let ring = 0; ring < 8; ring++) {
      for (const side of [-1, 0, 1]) {
        if (!props.standsAt({ ring, side, azimuth, groundMetres: groundAt(azimuth), groundAt })) continue;
        const paint: Paint = [0, 0, 0];
        const height = props.standingMetres; // random, so it tells palms apart
        const opacities = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map((share) => props.paint(paint, share * height, 0.01));
        if (column === 0) palms.set(height, []); // the one at the seam, which is seen in two parts
        if (column === 0 || palms.get(height)?.length === 0) continue;
        palms.set(height, [...(palms.get(height) ?? []), Math.max(...opacities)]);
      }
    }
  }
  return [...palms.values()].filter(({ length }) => length > 0);
};

it("the leaves of palms end before the edge of their picture, and reach over water", () => {
  const onLand = palmsOn(() => 2);
  expect(onLand.length).toBeGreaterThan(3);
  for (const opacities of onLand) expect([opacities[0], opacities.at(-1)]).toEqual([0, 0]);
  // Water ahead, land behind: each palm is whole or not there.
  const widths = new Set(onLand.map(({ length }) => length));
  const atTheShore = palmsOn((azimuth) => (Math.cos(azimuth) < -0.3 ? 2 : -1));
  expect(atTheShore.length).toBeGreaterThan(1);
  expect(atTheShore.length).toBeLessThan(onLand.length);
  for (const opacities of atTheShore) expect(widths).toContain(opacities.length);
});
