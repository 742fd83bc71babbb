import type { Size } from "./density.js";
import { Painter } from "./painter.js";
import { otherField, type Sphere, type View } from "./sphere.js";
import type { Start } from "./view-in-url.js";

const VERTICAL_FIELD_MAX = 85;
const FIELD_MAX = 120;
const FIELD_MIN = 20;
const START_FIELD = 100;
/** CSS pixels that a pixel of the picture covers: at most, and at the start if the view can be so wide. */
const MAGNIFICATION_MAX = 4;
const START_MAGNIFICATION_MAX = 2;
const ROTATION_DEGREES_PER_SECOND = 2;
const KEY_DEGREES_PER_SECOND = 60;
const INTRO_MILLISECONDS = 2_400;
/** The intro turns by so many degrees on its way down. */
const INTRO_DEGREES = 120;
/** At the start of the intro: how much of the sphere the shorter side of the window shows. */
const INTRO_SCALE = 2.1;
/** The part of its speed that a released sphere has after a second. */
const GLIDE_LEFT = 0.02;
/** More pixels of the canvas for a CSS pixel are not seen. */
const DENSITY_MAX = 2;
/** After the last movement. */
const SHARP_MILLISECONDS = 250;

/** In pixels, and where it is entered. */
type Panorama = { readonly width: number; readonly start: Start };

export const isReducedMotion = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Moves the view of a sphere, and draws it when it has changed. */
export class Camera {
  readonly sphere: Sphere;
  /** In pixels: limits how far the view can be zoomed in. */
  private readonly pictureWidth: number;
  /** Where the panorama is entered, and where `home` leads. */
  private readonly start: Start;
  /** Called when the sphere starts or stops rotating by itself. */
  onRotation: (rotates: boolean) => void = () => {};
  /** Called when the view is drawn. */
  onView: () => void = () => {};
  /** Called when the reader takes over. */
  onTakeOver: () => void = () => {};
  /** Draws instead of the camera, while a headset shows the sphere. */
  isElsewhere = false;
  /** Keys that are held down: degrees a second that they turn the view by. */
  readonly held = new Map<string, readonly [right: number, up: number]>();
  private rotates = false;
  private introSince: number | undefined;
  /** Degrees a second to the right and upwards. */
  private glide: [number, number] = [0, 0];
  private frame = 0;
  private last = 0;
  private readonly painter: Painter;
  /** The timer before a sharp frame, until that is drawn. */
  private sharpening = 0;
  /** The picture has got new parts meanwhile. */
  private isStale = false;
  private readonly stage: HTMLElement;
  /** Of the stage. Reading it at each frame could make the browser lay out the page. */
  private size: Size;

  /** Looks as a link says, or where the panorama starts. */
  constructor(sphere: Sphere, stage: HTMLElement, { width, start }: Panorama, given: View | undefined) {
    this.sphere = sphere;
    this.stage = stage;
    this.pictureWidth = width;
    this.start = start;
    this.size = sizeOf(stage);
    this.painter = new Painter(sphere, DENSITY_MAX);
    sphere.resize(this.size);
    if (given === undefined) this.home();
    else this.lookAs(given);
    new ResizeObserver(() => this.fit()).observe(stage);
  }

  /** Looks where the panorama starts. */
  home(): void {
    this.look({ ...this.start, fov: Math.max(START_FIELD, this.fieldMagnifiedBy(START_MAGNIFICATION_MAX)) });
  }

  /** Degrees to the left in which the start view is. */
  get fromStart(): number {
    return wrapped(this.start.yaw - this.view.yaw);
  }

  get view(): View {
    return this.sphere.view;
  }

  /**
   * The view as links have it: its field is that along the longer side of the window. So a view from an upright phone
   * is no narrow strip on a wide screen, and vice versa.
   */
  get sharedView(): View {
    return { ...this.view, fov: otherField(this.view.fov, 1 / this.acrossLonger) };
  }

  /** Looks as a link says. */
  lookAs({ yaw, pitch, fov }: View): void {
    this.look({ yaw, pitch, fov: otherField(fov, this.acrossLonger) });
  }

  /** Degrees that one CSS pixel in the middle of the view covers. */
  get degreesPerPixel(): number {
    return otherField(this.view.fov, 1 / this.size.width);
  }

  /** Keeps the view within the limits, and draws it. */
  look({ yaw = this.view.yaw, pitch = this.view.pitch, fov = this.view.fov }: Partial<View>): void {
    this.sphere.view = {
      yaw: wrapped(yaw),
      pitch: Math.max(-90, Math.min(90, pitch)),
      fov: Math.min(this.fieldMax(), Math.max(FIELD_MIN, this.fieldMagnifiedBy(MAGNIFICATION_MAX), fov)),
    };
    this.redraw();
  }

  turn(right: number, up: number): void {
    this.look({ yaw: this.view.yaw + right, pitch: this.view.pitch + up });
  }

  /** Zooms around a point of the window: what is there stays there. */
  zoom(factor: number, at?: { readonly clientX: number; readonly clientY: number }): void {
    this.stopMoving();
    const box = this.stage.getBoundingClientRect();
    const x = at === undefined ? 0 : ((at.clientX - box.left) / box.width) * 2 - 1;
    const y = at === undefined ? 0 : 1 - ((at.clientY - box.top) / box.height) * 2;
    const wanted = this.sphere.directionAt(x, y, this.view);
    this.look({ fov: this.view.fov * factor });
    if (at === undefined) return;
    // The second time corrects what is left: yaw and pitch are not independent.
    for (let n = 0; n < 2; n += 1) {
      const found = this.sphere.directionAt(x, y, this.view);
      this.turn(wrapped(wanted.yaw - found.yaw), wanted.pitch - found.pitch);
    }
  }

  rotate(rotates: boolean): void {
    this.rotates = rotates;
    this.onRotation(rotates);
    this.redraw();
  }

  get isRotating(): boolean {
    return this.rotates;
  }

  /** Nothing turns, glides or falls. */
  get isAtRest(): boolean {
    return !this.rotates && !this.isGliding && this.introSince === undefined;
  }

  /** Goes from high above down to the ground. */
  playIntro(): void {
    this.introSince = performance.now();
    this.redraw();
  }

  /** The reader has taken over. */
  stopMoving(): void {
    this.glide = [0, 0];
    this.introSince = undefined;
    if (this.rotates) this.rotate(false);
    this.onTakeOver();
    this.redraw();
  }

  /** Keeps turning for a moment after a drag. */
  release(right: number, up: number): void {
    if (isReducedMotion()) return;
    this.glide = [right, up];
    this.redraw();
  }

  redraw(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame((now) => void this.step(now));
  }

  /** Draws new parts of the picture. Where a sharp picture takes long, it waits for a pause. */
  sharpen(): void {
    this.isStale = true;
    if (this.painter.isSharp) this.redraw();
    else if (this.sharpening === 0)
      this.sharpening = setTimeout(() => void this.drawSharply(this.sharpening), SHARP_MILLISECONDS);
  }

  private async drawSharply(own: number): Promise<void> {
    const isWanted = (): boolean =>
      this.sharpening === own && this.frame === 0 && !this.painter.isBusy && !this.isElsewhere;
    this.isStale = false;
    await this.aimed(performance.now(), () => this.painter.paintSharply(this.size, isWanted));
    if (this.sharpening !== own) return;
    this.sharpening = 0;
    if (this.isStale) this.sharpen();
  }

  private get isGliding(): boolean {
    return this.glide.some((speed) => Math.abs(speed) > 1);
  }

  private async step(now: number): Promise<void> {
    this.frame = 0;
    if (this.isElsewhere) return;
    if (this.painter.isBusy) return this.redraw();
    const seconds = Math.min(0.1, (now - this.last) / 1000 || 0);
    this.last = now;
    const moves = this.rotates || this.held.size > 0 || this.isGliding;
    if (moves) {
      const slow = Math.min(1, this.view.fov / 75);
      for (const [right, up] of this.held.values())
        this.turnBy(right * slow, up * slow, seconds * KEY_DEGREES_PER_SECOND);
      this.turnBy(...this.glide, seconds);
      this.glide = this.glide.map((speed) => speed * GLIDE_LEFT ** seconds) as [number, number];
      if (this.rotates) this.turnBy(1, 0, seconds * ROTATION_DEGREES_PER_SECOND);
    }
    clearTimeout(this.sharpening);
    this.sharpening = 0;
    await this.draw(now);
    if (moves || this.introSince !== undefined) this.redraw();
    else if (this.frame === 0) {
      this.last = 0;
      if (!this.painter.isSharp) this.sharpen();
    }
  }

  private turnBy(right: number, up: number, amount: number): void {
    const { yaw, pitch, fov } = this.view;
    this.sphere.view = {
      yaw: wrapped(yaw + right * amount),
      pitch: Math.max(-90, Math.min(90, pitch + up * amount)),
      fov,
    };
  }

  private async draw(now: number): Promise<void> {
    const { painter, stage, size } = this;
    await this.aimed(now, () => painter.paint(size));
    // For tests, and for scripts of the page.
    for (const name of ["yaw", "pitch", "fov"] as const) stage.dataset[name] = this.view[name].toFixed(1);
    stage.dataset.moves = String(!this.isAtRest);
    this.onView();
  }

  /** Lets something draw what is seen at this time. */
  private aimed<T>(now: number, draw: () => T): T {
    const { sphere, size } = this;
    const target = sphere.view;
    const height = this.heightAt(now);
    if (height > 0) {
      const wide = INTRO_SCALE * Math.max(1, size.width / size.height);
      const scale = Math.tan((target.fov * Math.PI) / 360);
      sphere.view = {
        yaw: target.yaw - INTRO_DEGREES * height,
        pitch: target.pitch - (90 + target.pitch) * height,
        fov: (Math.atan(scale * (wide / scale) ** height) * 360) / Math.PI,
      };
    }
    sphere.bend = height;
    const drawn = draw();
    sphere.view = target;
    return drawn;
  }

  /** From 0 on the ground to 1 at the start of the intro. */
  private heightAt(now: number): number {
    if (this.introSince === undefined) return 0;
    const done = Math.max(0, now - this.introSince) / INTRO_MILLISECONDS;
    if (!(done < 1)) {
      this.introSince = undefined;
      return 0;
    }
    return 1 - done * done * (3 - 2 * done);
  }

  /** The vertical field of view is limited: beyond, a picture is stretched towards the edges. */
  private fieldMax(): number {
    const { width, height } = this.size;
    return Math.min(FIELD_MAX, otherField(VERTICAL_FIELD_MAX, width / height));
  }

  /** The field of view in whose middle a pixel of the picture covers so many of the screen. */
  private fieldMagnifiedBy(times: number): number {
    return (Math.atan((this.size.width * Math.PI) / (times * this.pictureWidth)) * 360) / Math.PI;
  }

  /** The width of the stage by its longer side. */
  private get acrossLonger(): number {
    const { width, height } = this.size;
    return width / Math.max(width, height);
  }

  /** A view keeps its field along the longer side, so that a phone can be turned. */
  private fit(): void {
    const { width, height } = this.size;
    const view = this.sharedView;
    this.size = sizeOf(this.stage);
    if (this.size.width === width && this.size.height === height) return;
    this.lookAs(view);
    if (!this.isElsewhere) void this.draw(performance.now());
  }
}

const sizeOf = ({ clientWidth, clientHeight }: HTMLElement): Size => ({ width: clientWidth, height: clientHeight });

/** -180 to 180 degrees. */
export const wrapped = (yaw: number): number => ((((yaw + 180) % 360) + 360) % 360) - 180;
