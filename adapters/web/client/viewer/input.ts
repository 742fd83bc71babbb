import type { Camera } from "./camera.js";

const KEY_DIRECTIONS: Readonly<Record<string, readonly [right: number, up: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};
export const ZOOM_STEP = 0.8;
const DOUBLE_CLICK_ZOOM = 0.5;
/** A pointer that rests this long before its release does not make the sphere glide. */
const REST_MILLISECONDS = 60;

const isInFrame = window.top !== window;

/** What keys do besides turning and zooming, by their names. */
type KeyActions = Readonly<Record<string, () => void>>;

/**
 * Looks around by dragging and with the arrow keys, and zooms with two fingers, a double click, the wheel, plus and
 * minus. In a frame of another page the wheel and one finger upwards scroll that page; `onPlainWheel` is called then.
 */
export function connectInput(stage: HTMLElement, camera: Camera, onPlainWheel: () => void, actions: KeyActions): void {
  stage.classList.toggle("framed", isInFrame);
  const pointers = new Map<number, PointerEvent>();
  let speed: [number, number] = [0, 0];
  let moved = 0;

  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    stage.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
    speed = [0, 0];
    camera.stopMoving();
  });
  stage.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    const distance = spread(pointers);
    pointers.set(event.pointerId, event);
    const perPixel = camera.degreesPerPixel / pointers.size;
    const right = (before.clientX - event.clientX) * perPixel;
    const up = (event.clientY - before.clientY) * perPixel;
    camera.turn(right, up);
    if (pointers.size > 1) camera.zoom(distance / spread(pointers), middle(pointers));
    const seconds = Math.max(1, event.timeStamp - before.timeStamp) / 1000;
    speed = [(speed[0] + right / seconds) / 2, (speed[1] + up / seconds) / 2];
    moved = event.timeStamp;
  });
  const release = (event: PointerEvent): void => {
    if (!pointers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && pointers.size === 0 && event.timeStamp - moved < REST_MILLISECONDS)
      camera.release(...speed);
  };
  stage.addEventListener("pointerup", release);
  stage.addEventListener("pointercancel", release);

  stage.addEventListener("dblclick", (event) => camera.zoom(DOUBLE_CLICK_ZOOM, event));

  connectWheel(stage, camera, onPlainWheel);
  connectKeys(stage, camera, { home: () => homeward(camera), ...actions });
}

function connectWheel(stage: HTMLElement, camera: Camera, onPlainWheel: () => void): void {
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
}

function connectKeys(stage: HTMLElement, camera: Camera, actions: KeyActions): void {
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = KEY_DIRECTIONS[event.key];
    if (direction !== undefined) {
      camera.stopMoving();
      if (!camera.held.has(event.key)) camera.turn(direction[0], direction[1]);
      camera.held.set(event.key, direction);
    } else if (event.key === "+" || event.key === "=") camera.zoom(ZOOM_STEP);
    else if (event.key === "-") camera.zoom(1 / ZOOM_STEP);
    else if (event.repeat) return;
    else if (actions[event.key.toLowerCase()] !== undefined) actions[event.key.toLowerCase()]?.();
    else return;
    event.preventDefault();
    camera.redraw();
  });
  stage.addEventListener("keyup", ({ key }) => camera.held.delete(key));
  stage.addEventListener("blur", () => camera.held.clear());
}

const homeward = (camera: Camera): void => {
  camera.stopMoving();
  camera.home();
};

/** The distance of the first two pointers. */
const spread = (pointers: ReadonlyMap<number, PointerEvent>): number => {
  const [a, b] = [...pointers.values()];
  return a === undefined || b === undefined ? 1 : Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) || 1;
};

const middle = (pointers: ReadonlyMap<number, PointerEvent>): { clientX: number; clientY: number } => {
  const [a, b] = [...pointers.values()] as [PointerEvent, PointerEvent];
  return { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 };
};
