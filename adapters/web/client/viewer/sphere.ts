import { AutorotatePlugin } from "@photo-sphere-viewer/autorotate-plugin";
import { EquirectangularAdapter, events, type Renderer, SYSTEM, utils, Viewer } from "@photo-sphere-viewer/core";
import { degrees, otherField, radians, type Size, type Start, type View, wrapped } from "./view.js";

/** Vertical fields of view. */
type Fields = { readonly min: number; readonly max: number };

/** Automatic rotation, started by a call only. The library expects `null`, which its type does not allow. */
const ROTATION = { autorotateSpeed: "2dps", autostartOnIdle: false, autostartDelay: null as unknown as number };
/** With the 64 of the library, straight lines have corners that can be seen. */
const SEGMENTS = 128;
/** More pixels of the canvas for a CSS pixel are not seen. */
const DENSITY_MAX = 2;
/** The range of the library. `Sphere.fields` is narrower. */
const FIELDS: Fields = { min: 1, max: 179 };
/** Of a pinch. The usual speed is meant for a third of these fields. */
const PINCH_SPEED = 0.4;
/** The part of a movement that is left for the next frame. */
const INERTIA = 0.8;

/** Draws pictures that are loaded already, so that the page knows about progress, errors and downloads. */
class PictureAdapter extends EquirectangularAdapter {
  static override readonly id: string = "picture";

  override async loadTexture(panorama: unknown) {
    const picture = panorama as ImageBitmap;
    const texture = utils.createTexture(picture as unknown as HTMLImageElement, true); // without mipmaps, it flickers
    // Browsers do not turn bitmaps upside down, as they do with images.
    texture.flipY = false;
    texture.repeat.y = -1;
    texture.offset.y = 1;
    return { panorama: panorama as string, texture, panoData: utils.mergePanoData(picture.width, picture.height) };
  }
}

/**
 * The canvas of the library, without multisampling, which its options cannot switch off. Multisampling takes longest to
 * draw, and a sphere around the viewer has no edges. Throws without WebGL 2.
 */
const prepare = () => {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2", { antialias: false, depth: false });
  if (context === null) throw new Error("WebGL 2 is not available");
  // What the library would find out by itself: it would use the storage of the browser, which is closed to sandboxed
  // frames, and make another context.
  Object.assign(SYSTEM, {
    loaded: true,
    isWebGLSupported: true,
    pixelRatio: Math.min(DENSITY_MAX, devicePixelRatio),
    maxTextureWidth: context.getParameter(context.MAX_TEXTURE_SIZE),
    isTouchEnabled: { initial: false, promise: Promise.resolve(false) },
  });
  return { canvas, context };
};

/** The parts of a camera of three.js that are used here. */
type Eye = {
  aspect: number;
  fov: number;
  readonly position: { set(x: number, y: number, z: number): void };
  clone(): Eye;
  lookAt(point: unknown): void;
  updateMatrix(): void;
  updateProjectionMatrix(): void;
};

type WebGLRenderer = Parameters<NonNullable<Parameters<Renderer["setCustomRenderer"]>[0]>>[0];

const drawingFor = (renderer: Renderer): WebGLRenderer => {
  let found: WebGLRenderer;
  renderer.setCustomRenderer((usual) => {
    found = usual;
    return usual;
  });
  return found;
};

/** An equirectangular picture around the viewer: in the viewer, and behind the landing page. */
export class Sphere {
  /** Called before each frame, with the time since the last frame. */
  onFrame: (seconds: number) => void = () => {};
  /** Called when the view is drawn. */
  onView: () => void = () => {};
  /** Called when the sphere starts or stops rotating by itself. */
  onRotation: (rotates: boolean) => void = () => {};
  /** Called with the size before, when the stage has another one. */
  onSize: (before: Size) => void = () => {};
  /** Views are kept within them. */
  fields: Fields | undefined;
  size: Size;
  readonly viewer: Viewer;
  private readonly rotation: AutorotatePlugin;
  /** The renderer of three.js, which draws for the library. */
  private readonly renderer: WebGLRenderer;

  /** With `glides`, it keeps turning for a moment after a drag. */
  constructor(stage: HTMLElement, start: Start, glides: boolean) {
    this.viewer = new Viewer({
      container: stage,
      rendererParameters: prepare(),
      adapter: [PictureAdapter, { resolution: SEGMENTS }],
      plugins: [AutorotatePlugin.withConfig(ROTATION)],
      navbar: false,
      keyboard: false,
      mousewheel: false,
      canvasBackground: "transparent",
      defaultYaw: radians(start.yaw),
      defaultPitch: radians(start.pitch),
      minFov: FIELDS.min,
      maxFov: FIELDS.max,
      zoomSpeed: PINCH_SPEED,
      moveInertia: glides && INERTIA,
    });
    this.viewer.setCursor("inherit");
    this.size = this.viewer.getSize();
    this.renderer = drawingFor(this.viewer.renderer);
    // A transparent sphere with which the library finds the direction at a point. It need not be drawn.
    for (const { object } of this.viewer.renderer.getIntersections({ x: 0, y: 0 })) object.material.visible = false;
    this.rotation = this.viewer.getPlugin<AutorotatePlugin>(AutorotatePlugin);
    this.rotation.addEventListener("autorotate", ({ autorotateEnabled }) => this.onRotation(autorotateEnabled));
    this.viewer.addEventListener("before-render", ({ elapsed }) => this.onFrame(elapsed / 1000));
    this.viewer.addEventListener("render", () => this.onView());
    this.viewer.addEventListener("zoom-updated", () => this.setVerticalField(this.verticalField)); // by a pinch
    this.viewer.addEventListener("size-updated", ({ size }) => {
      const before = this.size;
      this.size = { ...size };
      this.onSize(before);
    });
  }

  /** Replaces the picture in the same view. */
  async show(picture: ImageBitmap): Promise<void> {
    await this.viewer.setPanorama(picture, { transition: false, showLoader: false });
  }

  get verticalField(): number {
    return this.viewer.state.vFov;
  }

  get view(): View {
    const { yaw, pitch } = this.viewer.getPosition();
    const fov = otherField(this.verticalField, this.size.width / this.size.height);
    return { yaw: wrapped(degrees(yaw)), pitch: degrees(pitch), fov };
  }

  look({ yaw = this.view.yaw, pitch = this.view.pitch, fov = this.view.fov }: Partial<View>): void {
    this.setVerticalField(otherField(fov, this.size.height / this.size.width));
    this.viewer.rotate({ yaw: radians(yaw), pitch: radians(Math.max(-90, Math.min(90, pitch))) });
  }

  private setVerticalField(field: number): void {
    const { min, max } = this.fields ?? FIELDS;
    const level = (100 * (FIELDS.max - Math.max(min, Math.min(max, field)))) / (FIELDS.max - FIELDS.min);
    if (Math.abs(level - this.viewer.getZoomLevel()) > 1e-9) this.viewer.zoom(level);
  }

  /** The direction at a point of the stage, in pixels. */
  directionAt(x: number, y: number): Start {
    const { yaw, pitch } = this.viewer.dataHelper.viewerCoordsToSphericalCoords({ x, y });
    return { yaw: degrees(yaw), pitch: degrees(pitch) };
  }

  get isRotating(): boolean {
    return this.rotation.isEnabled();
  }

  rotate(rotates: boolean): void {
    if (rotates) this.rotation.start();
    else this.stop();
    this.viewer.needsUpdate();
  }

  /** Calls `draw` for each frame with the remaining share (1 to 0), then `done`. Call the result to jump to the end. */
  animate(duration: number, draw: (left: number) => void, done: () => void): () => void {
    draw(1);
    const properties = { left: { start: 1, end: 0 } };
    const easing = (part: number): number => part * part * (3 - 2 * part);
    const animation = new utils.Animation({ properties, duration, easing, onTick: ({ left }) => draw(left) });
    void animation.then((isDone) => isDone && done());
    return () => {
      animation.cancel();
      draw(0);
    };
  }

  /** 0: perspective. 1: stereographic, which shows the ground from above as a disc. */
  set bend(bend: number) {
    this.viewer.setOption("fisheye", 2 * bend);
  }

  /** Degrees that the device is turned around the direction of view. */
  set roll(roll: number) {
    this.viewer.state.roll = radians(roll);
    this.viewer.dispatchEvent(new events.RollUpdatedEvent(events.RollUpdatedEvent.type));
  }

  /** Ends all movement. */
  stop(): void {
    this.viewer.dispatchEvent(new events.StopAllEvent(events.StopAllEvent.type));
    this.look({});
  }

  /** Draws in a headset until its session ends. Straight ahead is where the view is. */
  async showIn(session: EventTarget): Promise<void> {
    const { viewer, renderer, view } = this;
    const { xr } = renderer;
    xr.enabled = true;
    xr.setReferenceSpaceType("local");
    viewer.setOption("sphereCorrection", { pan: radians(view.yaw + 180) }); // headsets look along the other axis
    viewer.needsContinuousUpdate(true);
    session.addEventListener("end", () => {
      xr.enabled = false;
      viewer.needsContinuousUpdate(false);
      viewer.setOption("sphereCorrection", { pan: 0 });
      // The headset has moved the camera.
      viewer.dispatchEvent(new events.PositionUpdatedEvent(events.PositionUpdatedEvent.type));
      viewer.dispatchEvent(new events.ZoomUpdatedEvent(events.ZoomUpdatedEvent.type));
    });
    await xr.setSession(session);
  }

  /** A view as an image file, in the canvas itself: it is drawn again before the browser shows it. */
  capture(size: Size, { yaw, pitch, fov }: View, type: string): Promise<Blob> {
    const { viewer, renderer } = this;
    const direction = viewer.dataHelper.sphericalCoordsToVector3({ yaw: radians(yaw), pitch: radians(pitch) });
    return new Promise((resolve, reject) => {
      const render = (scene: unknown, camera: Eye): void => {
        const density = renderer.getPixelRatio();
        renderer.setPixelRatio(1);
        renderer.setSize(size.width, size.height, false);
        const eye = camera.clone();
        eye.aspect = size.width / size.height;
        eye.fov = otherField(fov, 1 / eye.aspect);
        eye.position.set(0, 0, 0);
        eye.lookAt(direction);
        eye.updateMatrix();
        eye.updateProjectionMatrix();
        renderer.render(scene, eye);
        const take = (blob: Blob | null) => (blob === null ? reject(new Error("no image was made")) : resolve(blob));
        renderer.domElement.toBlob(take, type, 0.92);
        renderer.setPixelRatio(density);
        renderer.setSize(this.size.width, this.size.height);
        renderer.render(scene, camera);
        viewer.renderer.setCustomRenderer(null);
      };
      viewer.renderer.setCustomRenderer(() => ({ render }));
    });
  }
}
