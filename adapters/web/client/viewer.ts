import "pannellum/build/pannellum.js";
import { element } from "./element.js";
import { fetchWithProgress } from "./fetch-with-progress.js";

/** The horizontal field of view at the start. */
const FIELD_OF_VIEW_DEGREES = 100;
/** The change of the field of view by one press of a zoom button. */
const ZOOM_STEP_DEGREES = 15;
const ROTATION_DEGREES_PER_SECOND = 2;

const stage = document.getElementById("viewer");
if (stage !== null) void show(stage);

async function show(stage: HTMLElement): Promise<void> {
  const url = stage.dataset.image ?? "";
  if (!hasWebGl()) return showFlatImage("This browser cannot show the 360° view. This is the flat image.", url);
  const progress = element("progress");
  try {
    const image = await fetchWithProgress(url, (percent) => {
      progress.setAttribute("aria-valuenow", String(percent));
      progress.style.setProperty("--done", `${percent}%`);
    });
    start(stage, URL.createObjectURL(image), url);
  } catch {
    // An image element may show an image that scripts may not read.
    showFlatImage("The 360° view could not be loaded. This is the flat image.", url);
  }
}

function start(stage: HTMLElement, source: string, url: string): void {
  const viewer = window.pannellum.viewer(stage, {
    type: "equirectangular",
    panorama: source,
    autoLoad: true,
    showControls: false,
    ignoreGPanoXMP: true,
    keyboardZoom: true,
    hfov: FIELD_OF_VIEW_DEGREES,
    minHfov: 40,
    maxHfov: 120,
    // Stops at the first interaction and does not start again.
    autoRotate: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : -ROTATION_DEGREES_PER_SECOND,
  });
  viewer.on("load", () => {
    document.body.dataset.ready = "sphere";
    element("progress").hidden = true;
    connectControls(viewer);
  });
  viewer.on("error", () => showFlatImage("This browser cannot show the 360° view. This is the flat image.", url));
  // The current viewing direction in degrees, for tests and for scripts of the page.
  stage.addEventListener("pointerup", () => stage.setAttribute("data-yaw", viewer.getYaw().toFixed(1)));
}

function connectControls(viewer: Pannellum): void {
  element("controls").hidden = false;
  const zoom = (degrees: number) => () => void viewer.stopAutoRotate().setHfov(viewer.getHfov() + degrees);
  element("zoom-in").addEventListener("click", zoom(-ZOOM_STEP_DEGREES));
  element("zoom-out").addEventListener("click", zoom(ZOOM_STEP_DEGREES));
  element("fullscreen").addEventListener("click", () => void toggleFullScreen());
  const motion = element("motion");
  // Only devices with a gyroscope send this event with numbers.
  addEventListener("deviceorientation", ({ alpha }) => {
    if (alpha !== null && viewer.isOrientationSupported()) motion.hidden = false;
  });
  motion.addEventListener("click", () => {
    if (viewer.isOrientationActive()) viewer.stopOrientation();
    else viewer.startOrientation();
    motion.setAttribute("aria-pressed", String(viewer.isOrientationActive()));
  });
}

/** Includes the caption and the buttons, which the full screen mode of pannellum would hide. */
async function toggleFullScreen(): Promise<void> {
  if (document.fullscreenElement !== null) await document.exitFullscreen();
  else await document.querySelector(".scene")?.requestFullscreen();
}

function hasWebGl(): boolean {
  return document.createElement("canvas").getContext("webgl") !== null;
}

function showFlatImage(sentence: string, url: string): void {
  element("progress").hidden = true;
  element("viewer").hidden = true;
  const note = element("stage-note");
  note.textContent = sentence;
  note.hidden = false;
  const flat = element("flat") as HTMLImageElement;
  flat.classList.add("alone");
  flat.src = url;
  document.body.dataset.ready = "flat";
}

const share = document.getElementById("share");
share?.addEventListener("click", async () => {
  const url = share.dataset.link ?? location.href;
  if (navigator.share !== undefined) return void navigator.share({ url, title: document.title }).catch(() => {});
  await navigator.clipboard.writeText(url);
  share.textContent = "Link copied";
});
