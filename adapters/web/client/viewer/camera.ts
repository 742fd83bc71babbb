import type { Sphere } from "./sphere.js";
import { otherField, type Size, type Start, type View, wrapped } from "./view.js";

const VERTICAL_FIELD_MAX = 85;
const FIELD_MAX = 120;
const FIELD_MIN = 20;
const START_FIELD = 100;
/** CSS pixels that a pixel of the picture covers: at most, and at the start if the view can be so wide. */
const MAGNIFICATION_MAX = 4;
const START_MAGNIFICATION_MAX = 2;
const INTRO_MILLISECONDS = 2_400;
/** The intro turns by so many degrees on its way down. */
const INTRO_DEGREES = 120;
/** At the start of the intro: how much of the sphere the shorter side of the window shows. */
const INTRO_SCALE = 2.1;

export const isReducedMotion = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** In pixels, and where it is entered. */
type Panorama = { readonly width: number; readonly start: Start };

/** Keeps the view of a sphere within what its picture and its window allow, and moves it. */
export class Camera {
  readonly sphere: Sphere;
  /** Called when the view is drawn. */
  onView: () => void = () => {};
  /** Called when the reader takes over. */
  onTakeOver: () => void = () => {};
  private readonly stage: HTMLElement;
  private readonly panorama: Panorama;
  private endIntro: (() => void) | undefined;

  /** Looks as a link says, or where the panorama starts. */
  constructor(sphere: Sphere, stage: HTMLElement, panorama: Panorama, given: View | undefined) {
    this.sphere = sphere;
    this.stage = stage;
    this.panorama = panorama;
    this.limit();
    if (given === undefined) this.home();
    else this.lookAs(given);
    sphere.onView = () => this.tell();
    // A view keeps its field along the longer side, so that a phone can be turned.
    sphere.onSize = (before) => {
      this.endIntro?.();
      const fov = otherField(sphere.verticalField, longerBy(before, before.height));
      this.limit();
      this.lookAs({ ...sphere.view, fov });
    };
  }

  /** Looks where the panorama starts. */
  home(): void {
    const fov = Math.max(START_FIELD, this.fieldMagnifiedBy(START_MAGNIFICATION_MAX));
    this.sphere.look({ ...this.panorama.start, fov });
  }

  /** Degrees to the left in which the start view is. */
  get fromStart(): number {
    return wrapped(this.panorama.start.yaw - this.sphere.view.yaw);
  }

  /**
   * The view as links have it: its field is that along the longer side of the window. So a view from an upright phone
   * is no narrow strip on a wide screen, and vice versa.
   */
  get sharedView(): View {
    const { view, size } = this.sphere;
    return { ...view, fov: otherField(view.fov, longerBy(size, size.width)) };
  }

  /** Looks as a link says. */
  lookAs({ fov, ...direction }: View): void {
    const { size } = this.sphere;
    this.sphere.look({ ...direction, fov: otherField(fov, 1 / longerBy(size, size.width)) });
  }

  /** Zooms around a point of the window, whose picture stays in place. */
  zoom(factor: number, at?: { readonly clientX: number; readonly clientY: number }): void {
    this.stopMoving();
    const { sphere } = this;
    const { left, top } = this.stage.getBoundingClientRect();
    const found = () => at && sphere.directionAt(at.clientX - left, at.clientY - top);
    const wanted = found();
    sphere.look({ fov: sphere.view.fov * factor });
    // The second time corrects the rest: yaw and pitch are not independent.
    for (let n = 0; n < 2; n += 1) {
      const [now, { yaw, pitch }] = [found(), sphere.view];
      if (wanted === undefined || now === undefined) return;
      sphere.look({ yaw: yaw + wrapped(wanted.yaw - now.yaw), pitch: pitch + wanted.pitch - now.pitch });
    }
  }

  /** Goes from high above down to the ground, and rotates then. */
  playIntro(): void {
    const { sphere } = this;
    const { yaw, pitch, fov } = sphere.view;
    const { width, height } = sphere.size;
    const wide = INTRO_SCALE * Math.max(1, width / height);
    const narrow = Math.tan((fov * Math.PI) / 360);
    const draw = (above: number): void => {
      sphere.fields = above > 0 ? undefined : this.fields;
      sphere.bend = above;
      sphere.look({
        yaw: yaw - INTRO_DEGREES * above,
        pitch: pitch - (90 + pitch) * above,
        fov: (Math.atan(narrow * (wide / narrow) ** above) * 360) / Math.PI,
      });
    };
    const cancel = sphere.animate(INTRO_MILLISECONDS, draw, () => {
      this.endIntro = undefined;
      sphere.rotate(true);
    });
    this.endIntro = () => {
      this.endIntro = undefined;
      cancel();
      sphere.onRotation(false);
    };
    sphere.onRotation(true);
  }

  /** True if nothing turns or falls by itself. */
  get isAtRest(): boolean {
    return !this.sphere.isRotating && this.endIntro === undefined;
  }

  /** The reader has taken over. */
  stopMoving(): void {
    this.endIntro?.();
    this.sphere.stop();
    this.onTakeOver();
  }

  private tell(): void {
    // For tests, and for scripts of the page.
    for (const name of ["yaw", "pitch", "fov"] as const) this.stage.dataset[name] = this.sphere.view[name].toFixed(1);
    this.stage.dataset.moves = String(!this.isAtRest);
    this.onView();
  }

  /** Beyond the vertical maximum, a picture is stretched towards the edges. */
  private get fields() {
    const { width, height } = this.sphere.size;
    const max = Math.min(VERTICAL_FIELD_MAX, otherField(FIELD_MAX, height / width));
    const min = otherField(Math.max(FIELD_MIN, this.fieldMagnifiedBy(MAGNIFICATION_MAX)), height / width);
    return { min: Math.min(min, max), max };
  }

  private limit(): void {
    this.sphere.fields = this.fields;
  }

  /** The field of view in whose middle a pixel of the picture covers so many of the screen. */
  private fieldMagnifiedBy(times: number): number {
    return (Math.atan((this.sphere.size.width * Math.PI) / (times * this.panorama.width)) * 360) / Math.PI;
  }
}

/** The ratio of the longer side to this one. */
const longerBy = ({ width, height }: Size, side: number): number => Math.max(width, height) / side;
