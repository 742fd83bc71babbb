import type { Camera } from "./camera.js";

export const ZOOM_STEP = 0.8;
const DOUBLE_CLICK_ZOOM = 0.5;

const isInFrame = window.top !== window;

/** What keys do besides turning and zooming, by their names. */
type KeyActions = Readonly<Record<string, () => void>>;

/**
 * The library looks around by dragging, with arrow keys and with two fingers. Here are the other keys, the wheel and
 * the double click, which zoom where they point. In a frame of another page the wheel and one finger upwards scroll
 * that page; `onPlainWheel` is called then.
 */
export function connectInput(stage: HTMLElement, camera: Camera, onPlainWheel: () => void, actions: KeyActions): void {
  const { sphere } = camera;
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
  const keys: KeyActions = {
    home: () => {
      camera.stopMoving();
      camera.home();
    },
    ...actions,
  };
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") camera.zoom(ZOOM_STEP);
    else if (event.key === "-") camera.zoom(1 / ZOOM_STEP);
    else if (event.repeat) return;
    else if (event.key.startsWith("Arrow")) return camera.stopMoving();
    else if (keys[event.key.toLowerCase()] !== undefined) keys[event.key.toLowerCase()]?.();
    else return;
    event.preventDefault();
    event.stopPropagation(); // the library would do its own
  });
  stage.addEventListener("focus", () => {
    sphere.takesKeys = true;
  });
  stage.addEventListener("blur", () => {
    sphere.takesKeys = false;
  });
  sphere.takesKeys = document.activeElement === stage;
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
