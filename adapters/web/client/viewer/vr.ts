import { element } from "../element.js";
import type { Camera } from "./camera.js";
import { type Turn, turnOf } from "./sphere.js";

/** The parts of WebXR (https://www.w3.org/TR/webxr/) that are used here; TypeScript has no types of it. */
type Transform = { readonly matrix: Float32Array };
type Eye = { readonly projectionMatrix: Float32Array; readonly transform: Transform };
type Frame = { getViewerPose(space: unknown): { readonly views: readonly Eye[] } | null };
type Layer = {
  readonly framebuffer: WebGLFramebuffer | null;
  getViewport(eye: Eye): { x: number; y: number; width: number; height: number };
};
type Session = EventTarget & {
  updateRenderState(state: { baseLayer: Layer }): void;
  requestReferenceSpace(type: "local"): Promise<unknown>;
  requestAnimationFrame(draw: (time: number, frame: Frame) => void): number;
  end(): Promise<void>;
};
type Xr = {
  isSessionSupported(mode: "immersive-vr"): Promise<boolean>;
  requestSession(mode: "immersive-vr"): Promise<Session>;
};
type LayerClass = new (session: Session, gl: WebGL2RenderingContext) => Layer;

/** The button that shows the sphere in a headset, where there is one. */
export async function connectVr(camera: Camera, say: (sentence: string) => void): Promise<void> {
  const { xr } = navigator as { xr?: Xr };
  const isSupported = await xr?.isSessionSupported("immersive-vr").catch(() => false);
  if (xr === undefined || !isSupported) return;
  const button = element("vr");
  button.hidden = false;
  let session: Session | undefined;
  button.addEventListener("click", async () => {
    if (session !== undefined) return void session.end();
    try {
      session = await xr.requestSession("immersive-vr");
      session.addEventListener("end", () => {
        session = undefined;
        button.setAttribute("aria-pressed", "false");
        camera.sphere.gl.bindFramebuffer(camera.sphere.gl.FRAMEBUFFER, null);
        camera.isElsewhere = false;
        camera.redraw();
      });
      await show(session, camera);
      button.setAttribute("aria-pressed", "true");
    } catch {
      void session?.end();
      say("The headset could not be started.");
    }
  });
}

const show = async (session: Session, camera: Camera): Promise<void> => {
  const { sphere } = camera;
  const { gl } = sphere;
  await (gl as { makeXRCompatible?: () => Promise<void> }).makeXRCompatible?.();
  const layer = new (window as unknown as { XRWebGLLayer: LayerClass }).XRWebGLLayer(session, gl);
  session.updateRenderState({ baseLayer: layer });
  const space = await session.requestReferenceSpace("local");
  camera.stopMoving();
  camera.isElsewhere = true;
  camera.onView();
  const north = turnOf({ yaw: camera.view.yaw, pitch: 0 }, 0);
  const draw = (_time: number, frame: Frame): void => {
    if (!camera.isElsewhere) return;
    session.requestAnimationFrame(draw);
    gl.bindFramebuffer(gl.FRAMEBUFFER, layer.framebuffer);
    for (const eye of frame.getViewerPose(space)?.views ?? []) {
      const { x, y, width, height } = layer.getViewport(eye);
      const p = eye.projectionMatrix;
      const [scaleX, scaleY] = [1 / (p[0] ?? 1), 1 / (p[5] ?? 1)];
      const m = eye.transform.matrix;
      const head = [0, 1, 2, 4, 5, 6, 8, 9, 10].map((n) => m[n] ?? 0);
      gl.viewport(x, y, width, height);
      const lens = [scaleX, scaleY, scaleX * (p[8] ?? 0), scaleY * (p[9] ?? 0)] as const;
      sphere.drawEye({ lens, turn: product(north, head), bend: 0 });
    }
  };
  session.requestAnimationFrame(draw);
};

/** The product of two matrices by columns. */
const product = (a: Turn, b: Turn): Turn =>
  Array.from({ length: 9 }, (_, n) => {
    const column = n - (n % 3);
    return [0, 1, 2].reduce((sum, k) => sum + (a[3 * k + (n % 3)] ?? 0) * (b[column + k] ?? 0), 0);
  });
