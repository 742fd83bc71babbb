import { canvasSize, DENSITY_MIN, nextDensity, type Size } from "./density.js";
import type { Sphere } from "./sphere.js";

/** So many pixels of a sharp picture are drawn at a time: 15 to 30 ms without a graphics card. */
const SLICE_PIXELS = 96 * 1024;
/** A page that is not seen has no next frame. */
const FRAME_MILLISECONDS_MAX = 100;

/**
 * Draws the view of a sphere with as many pixels as it can draw in time. As long as these are not all, they are drawn
 * beside the canvas, and copied to it when they are done, so that the main thread does not wait for them. A worker with
 * an `OffscreenCanvas` would do that, too, but headsets need a context of the main thread: it would be a second way.
 */
export class Painter {
  /** The canvas does not have the last view yet. */
  isBusy = false;
  private readonly sphere: Sphere;
  private readonly most: number;
  private density = DENSITY_MIN;

  /** `most`: more pixels of the canvas for a CSS pixel are not seen. */
  constructor(sphere: Sphere, most: number) {
    this.sphere = sphere;
    this.most = most;
  }

  /** Each frame has all pixels that can be seen. */
  get isSharp(): boolean {
    return this.density >= this.max;
  }

  /** Resolves when the canvas has the picture. */
  async paint(size: Size): Promise<void> {
    const { sphere, density, max } = this;
    if (this.isSharp) {
      const since = performance.now();
      sphere.resize(canvasSize(size, max, max));
      sphere.draw();
      void sphere.settled().then(() => this.learn(performance.now() - since));
    } else {
      this.isBusy = true;
      const pixels = canvasSize(size, density, max);
      this.learn(await this.paintAside(pixels, pixels.height, true));
      this.isBusy = false;
    }
  }

  /** With all pixels, a few rows at a time. Ends without a change as soon as it is not wanted. */
  async paintSharply(size: Size, isWanted: () => boolean): Promise<void> {
    const pixels = canvasSize(size, this.max, this.max);
    await this.paintAside(pixels, Math.ceil(SLICE_PIXELS / pixels.width), false, isWanted);
  }

  /** Draws so many rows at a time beside the canvas, and copies them to it. Resolves to the milliseconds of drawing. */
  private async paintAside(size: Size, rows: number, isQuick: boolean, isWanted = () => true): Promise<number> {
    const { sphere } = this;
    const { gl } = sphere;
    const { width, height } = size;
    const draw = sphere.shot(size, isQuick);
    const [buffer, pixels] = [gl.createFramebuffer(), gl.createRenderbuffer()];
    let taken = 0;
    for (let from = 0; from < height && isWanted(); from += rows) {
      let since = 0;
      await sphere.ask(() => {
        since = performance.now();
        gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
        if (from === 0) {
          gl.bindRenderbuffer(gl.RENDERBUFFER, pixels);
          gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA8, width, height);
          gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, pixels);
        }
        gl.enable(gl.SCISSOR_TEST);
        gl.scissor(0, from, width, rows);
        draw();
        gl.disable(gl.SCISSOR_TEST);
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      });
      taken += performance.now() - since;
    }
    await new Promise<void>((resolve) => {
      const copy = (): void => {
        if (isWanted()) {
          sphere.resize(size);
          gl.bindFramebuffer(gl.READ_FRAMEBUFFER, buffer);
          gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
        }
        gl.deleteFramebuffer(buffer);
        gl.deleteRenderbuffer(pixels);
        resolve();
      };
      void sphere.ask(copy, framed);
    });
    return taken;
  }

  private learn(milliseconds: number): void {
    this.density = nextDensity(this.density, milliseconds, this.max);
  }

  private get max(): number {
    return Math.min(this.most, devicePixelRatio);
  }
}

/** Resolves after the next frame, for which a browser may read the canvas. */
const framed = (): Promise<void> =>
  new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, FRAME_MILLISECONDS_MAX);
  });
