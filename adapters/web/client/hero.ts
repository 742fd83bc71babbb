import { element } from "./element.js";
import { isTooLong, keepPrompt } from "./kept-prompt.js";
import { localTimes } from "./local-times.js";
import { otherField, Sphere } from "./viewer/sphere.js";

/*
 * The panorama behind the text of the landing page. It turns slowly and can be dragged; a button pauses it. First the
 * thumbnail is shown, and after the page has loaded the larger picture in the same view. Where there is no WebGL, and
 * for readers who prefer reduced motion, the still image of the page stays.
 */

const DEGREES_PER_SECOND = 2;
/** The vertical field of view, in a wide window and in an upright one. The still image in landing.css is as large. */
const FIELD_DEGREES = { wide: 68, upright: 75 };
/** A little above the horizon: there is more to see. */
const PITCH_DEGREES = 5;
const PITCH_DEGREES_MAX = 50;
/** More pixels are not seen behind the text, and take memory. */
const PICTURE_PIXELS_MAX = 2048;

const hero = element("hero");
const canvas = element("hero-sphere") as HTMLCanvasElement;
const pause = element("hero-pause");
const pauseLabel = pause.getAttribute("aria-label");
const { thumbnail = "", picture = "" } = hero.dataset;

localTimes(document);
keepPromptThroughSignUp();
if (!matchMedia("(prefers-reduced-motion: reduce)").matches) void start();

async function start(): Promise<void> {
  await painted();
  let sphere: Sphere;
  try {
    sphere = new Sphere(canvas);
    await load(sphere, thumbnail);
  } catch {
    return showStill();
  }
  turn(sphere);
  if (savesData()) return;
  await loaded();
  // If the larger picture cannot be read, the thumbnail stays.
  await load(sphere, picture).then(
    () => show("sphere"),
    () => {},
  );
}

async function load(sphere: Sphere, url: string): Promise<void> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`status ${response.status}`);
  const blob = await response.blob();
  let bitmap = await createImageBitmap(blob);
  if (bitmap.width > PICTURE_PIXELS_MAX) {
    const size = { resizeWidth: PICTURE_PIXELS_MAX, resizeHeight: PICTURE_PIXELS_MAX / 2 };
    bitmap = await createImageBitmap(bitmap, { ...size, resizeQuality: "high" });
  }
  sphere.show(bitmap);
  bitmap.close();
}

function fieldOf({ clientWidth, clientHeight }: HTMLElement): number {
  return clientWidth < clientHeight ? FIELD_DEGREES.upright : FIELD_DEGREES.wide;
}

/** Draws while the panorama turns or is dragged, and only where somebody can see it. */
function turn(sphere: Sphere): void {
  let [yaw, pitch] = [0, PITCH_DEGREES];
  let [turns, isVisible] = [true, true];
  let dragged: PointerEvent | undefined;
  let frame = 0;
  let before = 0;

  const draw = (now: number): void => {
    if (turns && dragged === undefined) yaw += (DEGREES_PER_SECOND * Math.min(now - before, 100)) / 1000;
    before = now;
    const { width, height } = canvas;
    sphere.view = { yaw, pitch, fov: otherField(fieldOf(canvas), width / height) };
    sphere.draw();
    frame = turns && isVisible ? requestAnimationFrame(draw) : 0;
  };
  const wake = (): void => {
    if (frame !== 0) return;
    before = performance.now();
    frame = requestAnimationFrame(draw);
  };

  new ResizeObserver(() => {
    fitCanvas();
    wake();
  }).observe(canvas);
  new IntersectionObserver(([entry]) => {
    isVisible = entry?.isIntersecting ?? true;
    if (isVisible) wake();
  }).observe(canvas);
  canvas.addEventListener("webglcontextlost", () => {
    cancelAnimationFrame(frame);
    showStill();
  });

  canvas.addEventListener("pointerdown", (event) => {
    dragged = event;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (dragged === undefined) return;
    const degrees = fieldOf(canvas) / canvas.clientHeight;
    yaw -= (event.clientX - dragged.clientX) * degrees;
    pitch = withinPitch(pitch + (event.clientY - dragged.clientY) * degrees);
    dragged = event;
    wake();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, () => {
      dragged = undefined;
      report(yaw);
    });
  }
  pause.addEventListener("click", () => {
    turns = !turns;
    labelPause(turns);
    report(yaw);
    wake();
  });
  pause.hidden = false;
  show("thumbnail");
}

const withinPitch = (degrees: number): number => Math.max(-PITCH_DEGREES_MAX, Math.min(PITCH_DEGREES_MAX, degrees));

function fitCanvas(): void {
  // The texture has fewer pixels than the screen: more than one canvas pixel per CSS pixel would show nothing more.
  const scale = Math.min(1, devicePixelRatio);
  canvas.width = Math.round(canvas.clientWidth * scale);
  canvas.height = Math.round(canvas.clientHeight * scale);
}

function labelPause(turns: boolean): void {
  pause.setAttribute("aria-label", (turns ? pauseLabel : pause.dataset.words) ?? "");
  pause.classList.toggle("paused", !turns);
}

/** The viewing direction, for tests and for scripts of the page. */
function report(yaw: number): void {
  hero.setAttribute("data-yaw", yaw.toFixed(1));
}

/** Tells styles and tests what the page shows. */
function show(what: "thumbnail" | "sphere" | "still"): void {
  hero.dataset.shows = what;
}

function showStill(): void {
  pause.hidden = true;
  (element("hero-still") as HTMLImageElement).src = picture;
  show("still");
}

function savesData(): boolean {
  const { connection } = navigator as { connection?: { readonly saveData?: boolean } };
  return connection?.saveData === true;
}

/** After the reader sees the text over the still image: compiling the shader would delay that. */
function painted(): Promise<unknown> {
  return new Promise((resolve) => new PerformanceObserver(resolve).observe({ type: "paint", buffered: true }));
}

function loaded(): Promise<void> {
  if (document.readyState === "complete") return Promise.resolve();
  return new Promise((resolve) => addEventListener("load", () => resolve(), { once: true }));
}

/** Visitors sign up or log in first. The addresses between the pages there have no room for a long prompt. */
function keepPromptThroughSignUp(): void {
  const form = element("hero-form") as HTMLFormElement;
  if (form.dataset.visitor === undefined) return;
  form.addEventListener("submit", (event) => {
    const prompt = String(new FormData(form).get("prompt"));
    if (!isTooLong(new URLSearchParams({ prompt }).toString())) return;
    event.preventDefault();
    keepPrompt(prompt);
    location.assign(form.action);
  });
}
