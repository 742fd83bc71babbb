import { cover, multiply, type Paint, type Rgb, set } from "./colour.js";
import type { PropSet, Scene } from "./scene.js";

const YELLOWISH: Rgb = [1.12, 1, 0.86];
export const SNOW: Rgb = [0.88, 0.91, 0.97];
export const BARK: Rgb = [0.16, 0.11, 0.07];
/** Water swallows red. Without a lamp, as divers have, every coral would be blue. */
export const LAMP: Rgb = [2.4, 1.1, 0.9];
export const GLASS: Rgb = [0.12, 0.17, 0.24];
export const WINDOW_LIGHTS: readonly [Rgb, ...Rgb[]] = [
  [1.15, 0.72, 0.3],
  [1.2, 0.85, 0.45],
  [1.0, 0.92, 0.75],
  [0.6, 0.78, 1.05],
];

/** The colours of props, and the light on them. */
export class PropColours {
  private readonly sky: Scene["sky"];
  private readonly colours: PropSet["colours"];
  private readonly litColour: Paint = [0, 0, 0];

  constructor(sky: Scene["sky"], { colours }: PropSet) {
    this.sky = sky;
    this.colours = colours;
  }

  /** Leaves, from dark to bright. `side`: how much the light of the sun reaches them. */
  leaves(paint: Paint, brightness: number, variation: number, side: number): void {
    this.blend(paint, brightness);
    if (variation > 0.5) multiply(paint, YELLOWISH);
    this.light(paint, Math.max(0.12, side));
  }

  /** The two colours of the props, mixed. */
  blend(paint: Paint, share: number): void {
    set(paint, this.colours[0]);
    cover(paint, this.colours[1], share);
  }

  /** Turns the colour of a surface into the light that it reflects. */
  light(paint: Paint, direct: number): void {
    const { sunlight, skylight } = this.sky;
    paint[0] *= skylight[0] + sunlight[0] * direct * 0.6;
    paint[1] *= skylight[1] + sunlight[1] * direct * 0.6;
    paint[2] *= skylight[2] + sunlight[2] * direct * 0.6;
  }

  /** The same for another colour. The result is valid until the next call. */
  lit(colour: Rgb, direct: number): Rgb {
    set(this.litColour, colour);
    this.light(this.litColour, direct);
    return this.litColour;
  }
}
