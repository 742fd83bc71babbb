import { isTooLong, keepPrompt } from "./kept-prompt.js";
import { element, localTimes } from "./page.js";
import { letPageScroll } from "./viewer/input.js";
import type { Sphere } from "./viewer/sphere.js";

/*
 * The panorama behind the text of the landing page. After the page has loaded, it turns slowly and can be dragged; a
 * button pauses it. Where there is no WebGL, on narrow screens, and for readers who prefer reduced motion or save data,
 * the still image of the page stays.
 */

/** The vertical field of view, in a wide window and in an upright one. The still image in landing.css is as large. */
const FIELD_DEGREES = { wide: 68, upright: 75 };
/** A little above the horizon: there is more to see. */
const START = { yaw: 0, pitch: 5 };
const NARROW = "(max-width: 40rem)";

const hero = element("hero");
const stage = element("hero-sphere");
const pause = element("hero-pause");
const pauseLabel = pause.getAttribute("aria-label");
const { picture = "" } = hero.dataset;

localTimes(document);
keepPromptThroughSignUp();
if (!matchMedia("(prefers-reduced-motion: reduce)").matches && !savesData()) void start();

async function start(): Promise<void> {
  await idle();
  if (matchMedia(NARROW).matches) return showStill();
  const loading = fetch(picture)
    .then(async (response) => createImageBitmap(await response.blob()))
    .catch(() => undefined); // the still image stays
  try {
    const { Sphere } = await import("./viewer/sphere.js");
    const sphere = new Sphere(stage, START, false);
    const image = await loading;
    if (image !== undefined) await turn(sphere, image);
  } catch {
    showStill();
  }
}

/** Turns where somebody can see it. */
async function turn(sphere: Sphere, image: ImageBitmap): Promise<void> {
  let [turns, isVisible] = [true, true];
  const go = (): void => sphere.rotate(turns && isVisible);
  const chooseField = (): void => {
    const { width, height } = sphere.size;
    const field = width < height ? FIELD_DEGREES.upright : FIELD_DEGREES.wide;
    sphere.fields = { min: field, max: field };
    sphere.look({});
  };
  // For tests, and for scripts of the page.
  sphere.onView = () => hero.setAttribute("data-yaw", sphere.view.yaw.toFixed(1));
  sphere.onSize = chooseField;
  chooseField();
  await sphere.show(image);
  letPageScroll(stage);
  new IntersectionObserver(([entry]) => {
    isVisible = entry?.isIntersecting ?? true;
    go();
  }).observe(stage);
  stage.addEventListener("pointerdown", () => addEventListener("pointerup", go, { once: true }));
  pause.addEventListener("click", () => {
    turns = !turns;
    labelPause(turns);
    go();
  });
  pause.hidden = false;
  show("sphere");
}

function labelPause(turns: boolean): void {
  pause.setAttribute("aria-label", (turns ? pauseLabel : pause.dataset.words) ?? "");
  pause.classList.toggle("paused", !turns);
}

/** Tells styles and tests what the page shows. */
function show(what: "sphere" | "still"): void {
  hero.dataset.shows = what;
}

function showStill(): void {
  (element("hero-still") as HTMLImageElement).src = picture;
  show("still");
}

function savesData(): boolean {
  const { connection } = navigator as { connection?: { readonly saveData?: boolean } };
  return connection?.saveData === true;
}

/** After the page has loaded, when there is nothing else to do. */
async function idle(): Promise<void> {
  if (document.readyState !== "complete")
    await new Promise((resolve) => addEventListener("load", resolve, { once: true }));
  await new Promise((resolve) =>
    "requestIdleCallback" in window ? requestIdleCallback(resolve) : setTimeout(resolve),
  );
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
