import { element } from "../page.js";
import type { Camera } from "./camera.js";

/** The parts of WebXR (https://www.w3.org/TR/webxr/) that are used here; TypeScript has no types of it. */
type Session = EventTarget & { end(): Promise<void> };
type Xr = {
  isSessionSupported(mode: "immersive-vr"): Promise<boolean>;
  requestSession(mode: "immersive-vr"): Promise<Session>;
};

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
      });
      camera.stopMoving();
      await camera.sphere.showIn(session);
      button.setAttribute("aria-pressed", "true");
    } catch {
      void session?.end();
      say("The headset could not be started.");
    }
  });
}
