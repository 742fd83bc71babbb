import type { PixelSize } from "../../../../domain/images/resolution.js";
import { byteOf, cover, linear, luminance, type Paint, type Rgb, scaled } from "./colour.js";
import { cellRandom, smoothstep } from "./noise.js";
import { meanColour, type Reference } from "./references.js";
import type { Change } from "./scene.js";
import type { Feature } from "./words.js";

const GREY: Rgb = [0.97, 0.99, 1.03];
const EVEN = { horizon: GREY, top: GREY, ground: GREY, hazeColour: GREY, saturation: 0.6, haze: 0, snow: 0, mean: 0 };
const NIGHT = { horizon: [0.7, 0.9, 1.5], top: [0.4, 0.5, 1], ground: [0.7, 0.8, 1.2], saturation: 0.4 } as const;
const WARM = { horizon: [1.5, 0.9, 0.5], top: [0.6, 0.6, 1], ground: [1.1, 0.8, 0.65], saturation: 0.85 } as const;
const DUSK = { horizon: [1.1, 0.8, 1.05], top: [0.5, 0.6, 1.3], ground: [0.8, 0.8, 1.1] } as const;

/** The first word that a prompt has decides. `mean`: luminance of the new picture; without it, that of the panorama. */
const LIGHTS: readonly (readonly [Feature, Partial<Change>])[] = [
  ["storm", { top: [0.5, 0.54, 0.62], saturation: 0.45, haze: 0.35, mean: 0.09 }],
  ["night", { ...NIGHT, mean: 0.045 }],
  ["dusk", { ...DUSK, mean: 0.07 }],
  ["sunset", { ...WARM, haze: 0.55, hazeColour: [1.9, 0.85, 0.35], mean: 0.16 }],
  ["sunrise", { ...WARM, haze: 0.4, hazeColour: [1.6, 1, 0.7], mean: 0.22 }],
  ["golden", { ...WARM, mean: 0.25 }],
  ["overcast", { mean: 0.17 }],
  ["day", { saturation: 1.15, mean: 0.3 }],
  ["snow", { haze: 0.35 }],
  ["fog", {}],
];

/** The change that the words ask for; `undefined` if they name neither light nor weather. */
export function changeOf(features: ReadonlySet<Feature>, panorama: Reference): Change | undefined {
  const [, light] = LIGHTS.find(([feature]) => features.has(feature)) ?? [];
  if (light === undefined) return undefined;
  const before = Math.max(luminance(meanColour([panorama], 0, 1)), 1e-4);
  const gain = light.mean === undefined ? 1 : Math.min(light.mean / before, 8);
  const far = Math.max(luminance(meanColour([panorama], 0.38, 0.52)), before) * gain;
  const fog = features.has("fog") && { haze: 0.94, hazeColour: GREY };
  const { horizon, top, ground, hazeColour, ...change }: Change = { ...EVEN, ...light, ...fog };
  const lit = { horizon: scaled(horizon, gain), top: scaled(top, gain), ground: scaled(ground, gain) };
  const snow = features.has("snow") ? 0.9 : 0;
  return { ...change, ...lit, hazeColour: scaled(hazeColour, far), mean: before * gain, snow };
}

const LINEAR = Float32Array.from({ length: 256 }, (_, byte) => linear(byte / 255));

type Strip = { readonly size: PixelSize; readonly from: number; readonly to: number; readonly stopped?: Int32Array };

/** Paints a strip of the panorama `given`, which has the size of the picture. Without a change, it is a copy. */
export function paintPanorama(given: Uint8Array, pixels: Uint8Array, strip: Strip, change: Change | undefined): void {
  const { size, from, to, stopped } = strip;
  const paint: Paint = [0, 0, 0];
  for (let row = 0; row < size.heightPixels; row++) {
    if (stopped !== undefined && Atomics.load(stopped, 0) !== 0) return;
    const [first, end] = [(row * size.widthPixels + from) * 3, (row * size.widthPixels + to) * 3];
    if (change === undefined) pixels.set(given.subarray(first, end), first);
    const up = Math.sin((0.5 - (row + 0.5) / size.heightPixels) * Math.PI);
    for (let at = first; change !== undefined && at < end; at += 3) {
      for (let channel = 0; channel < 3; channel++) paint[channel] = LINEAR[given[at + channel] as number] as number;
      alter(paint, up, change);
      for (let channel = 0; channel < 3; channel++) {
        pixels[at + channel] = byteOf(paint[channel] as number, 2 * cellRandom(at, channel, 0, 1) - 1);
      }
    }
  }
}

/** `up`: the height of the direction of a pixel, 1 at the zenith and -1 at the nadir. */
function alter(paint: Paint, up: number, { horizon, top, ground, saturation, haze, hazeColour, ...rest }: Change) {
  const before = luminance(paint);
  // What is bluer than it is red is sky or water.
  const solid = smoothstep(-0.15, 0.25, (Math.max(paint[0], paint[1]) - paint[2]) / Math.max(before, 1e-4));
  const pole = up > 0 ? top : ground;
  const share = Math.abs(up) ** 0.6;
  for (let channel = 0; channel < 3; channel++) {
    const factor = (horizon[channel] as number) * (1 - share) + (pole[channel] as number) * share;
    paint[channel] = (before + ((paint[channel] as number) - before) * saturation) * factor;
  }
  if (rest.snow > 0) {
    const now = luminance(paint);
    const white = Math.min(0.85, 2.6 * rest.mean) * (0.55 + (0.6 * now) / (now + rest.mean));
    const onGround = smoothstep(0.03, -0.08, up) * (0.3 + 0.7 * solid);
    cover(paint, scaled(GREY, white), rest.snow * Math.max(onGround, 0.7 * solid * smoothstep(0.75, 0.1, up)));
  }
  if (haze > 0) cover(paint, hazeColour, haze * Math.exp(-Math.abs(up) * 2.5));
}
