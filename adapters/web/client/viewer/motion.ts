import { element } from "../page.js";
import type { Camera } from "./camera.js";
import { degrees, radians, type View } from "./view.js";

type WithPermission = { requestPermission?: () => Promise<PermissionState> };

/**
 * The button with which the view follows the device. iPhones send orientations only after the reader has allowed them,
 * and ask only on a click; elsewhere the button appears with the first orientation.
 */
export function connectMotion(camera: Camera, say: (sentence: string) => void): void {
  if (!("DeviceOrientationEvent" in window)) return;
  const { sphere } = camera;
  const button = element("motion");
  const asks = (DeviceOrientationEvent as WithPermission).requestPermission !== undefined;
  // Some browsers on computers can ask, too, but have no gyroscope.
  button.hidden = !(asks && matchMedia("(pointer: coarse)").matches);
  // Only devices with a gyroscope send this event with numbers.
  addEventListener("deviceorientation", ({ alpha }) => {
    if (alpha !== null) button.hidden = false;
  });

  let isActive = false;
  /** The rotation added to orientations: the view starts where it is, and fingers and keys turn it further. */
  let offset = { yaw: 0, pitch: 0 };
  let set: View | undefined;
  const follow = (event: DeviceOrientationEvent): void => {
    const found = directionOf(event);
    if (found === undefined) return;
    const { view } = sphere;
    if (set === undefined) offset = { yaw: view.yaw - found.yaw, pitch: 0 };
    else offset = { yaw: offset.yaw + view.yaw - set.yaw, pitch: offset.pitch + view.pitch - set.pitch };
    sphere.roll = found.roll;
    sphere.look({ yaw: found.yaw + offset.yaw, pitch: found.pitch + offset.pitch });
    set = sphere.view;
  };
  const stop = (): void => {
    removeEventListener("deviceorientation", follow);
    sphere.roll = 0;
  };
  button.addEventListener("click", async () => {
    if (!isActive && asks) {
      const answer = await (DeviceOrientationEvent as WithPermission).requestPermission?.().catch(() => "denied");
      if (answer !== "granted") return say("Your browser does not allow this page to use the device's motion.");
    }
    isActive = !isActive;
    button.setAttribute("aria-pressed", String(isActive));
    if (!isActive) return stop();
    set = undefined;
    camera.stopMoving();
    addEventListener("deviceorientation", follow);
  });
}

/** The direction of the back of the device, and the rotation of its screen. Angles: Device Orientation, section 3. */
const directionOf = ({ alpha, beta, gamma }: DeviceOrientationEvent) => {
  if (alpha === null || beta === null || gamma === null) return undefined;
  const [a, b, g] = [alpha, beta, gamma].map(radians) as [number, number, number];
  const [sa, ca, sb, cb, sg, cg] = [Math.sin(a), Math.cos(a), Math.sin(b), Math.cos(b), Math.sin(g), Math.cos(g)];
  // East, north and up parts of the back of the device; the up parts of its right and its top.
  const [east, north, up] = [-(ca * sg + cg * sa * sb), -(sa * sg - ca * cg * sb), -cb * cg];
  const screenTurn = radians(screen.orientation?.angle ?? 0);
  const roll = Math.atan2(-cb * sg, sb) - screenTurn;
  return {
    yaw: degrees(Math.atan2(east, north)),
    pitch: degrees(Math.asin(Math.max(-1, Math.min(1, up)))),
    roll: degrees(roll),
  };
};
