import type { Camera } from "./camera.js";

const KEY_DIRECTIONS: Readonly<Record<string, readonly [right: number, up: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};
const KEY_DEGREES_PER_SECOND = 60;
export const ZOOM_STEP = 0.8;
const DOUBLE_CLICK_ZOOM = 0.5;

const isInFrame = window.top !== window;

/** Actions of keys besides turning and zooming, by the name of the key. */
type KeyActions = Readonly<Record<string, () => void>>;

/**
 * The library looks around by dragging and with two fingers. Here are the keys (its own go on turning after they are
 * released), and the wheel and the double click, which zoom where they point. In a frame of another page the wheel and
 * one finger upwards scroll that page; `onPlainWheel` is called then.
 */
export function connectInput(stage: HTMLElement, camera: Camera, onPlainWheel: () => void, actions: KeyActions): void {
  if (isInFrame) letPageScroll(stage);
  stage.addEventListener("pointerdown", () => {
    stage.focus({ preventScroll: true });
    camera.stopMoving();
  });
  stage.addEventListener("dblclick", (event) => camera.zoom(DOUBLE_CLICK_ZOOM, event));
  stage.addEventListener(
    "wheel",
    (event) => {
      if (isInFrame && !event.ctrlKey && !event.metaKey) return onPlainWheel();
      event.preventDefault();
      const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
      // Two fingers on a touchpad arrive as a wheel with Ctrl, in small steps.
      const amount = event.ctrlKey ? 4 * pixels : pixels;
      camera.zoom(1.0016 ** Math.max(-300, Math.min(300, amount)), event);
    },
    { passive: false },
  );
  connectKeys(stage, camera, {
    home: () => {
      camera.stopMoving();
      camera.home();
    },
    ...actions,
  });
}

function connectKeys(stage: HTMLElement, camera: Camera, actions: KeyActions): void {
  const { sphere } = camera;
  const held = new Map<string, readonly [right: number, up: number]>();
  const turn = ([right, up]: readonly [number, number], degrees: number): void =>
    sphere.look({ yaw: sphere.view.yaw + degrees * right, pitch: sphere.view.pitch + degrees * up });
  sphere.onFrame = (seconds) => {
    const degrees = KEY_DEGREES_PER_SECOND * Math.min(0.1, seconds) * Math.min(1, sphere.view.fov / 75);
    for (const direction of held.values()) turn(direction, degrees);
  };
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    const direction = KEY_DIRECTIONS[event.key];
    if (direction !== undefined) {
      if (!held.has(key)) {
        camera.stopMoving();
        turn(direction, 1);
      }
      held.set(key, direction);
    } else if (key === "+" || key === "=") camera.zoom(ZOOM_STEP);
    else if (key === "-") camera.zoom(1 / ZOOM_STEP);
    else if (event.repeat || actions[key] === undefined) return;
    else actions[key]?.();
    event.preventDefault();
  });
  stage.addEventListener("keyup", ({ key }) => held.delete(key.toLowerCase()));
  stage.addEventListener("blur", () => held.clear());
}

/** One finger that begins upwards or downwards scrolls the page: the library does not see it. */
export function letPageScroll(stage: HTMLElement): void {
  stage.classList.add("framed");
  let start: Touch | undefined;
  let scrolls: boolean | undefined;
  stage.addEventListener(
    "touchstart",
    ({ touches }) => {
      start = touches[0];
      scrolls = touches.length > 1 ? false : undefined;
    },
    { passive: true },
  );
  stage.addEventListener(
    "touchmove",
    (event) => {
      const [now] = event.touches;
      if (now === undefined || start === undefined) return;
      scrolls ??= Math.abs(now.clientY - start.clientY) > Math.abs(now.clientX - start.clientX);
      if (scrolls) event.stopPropagation();
    },
    { passive: true },
  );
}
