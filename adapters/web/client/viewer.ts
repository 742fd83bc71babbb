import "pannellum/build/pannellum.js";
import { element } from "./element.js";
import { fetchWithProgress } from "./fetch-with-progress.js";

/** Degrees: how much of the sphere is seen at first, and how far one press of a button zooms. */
const FIELD_OF_VIEW = 100;
const ZOOM_STEP = 15;
const ROTATION_DEGREES_PER_SECOND = 2;

const stage = document.getElementById("viewer");
if (stage !== null) void show(stage);

async function show(stage: HTMLElement): Promise<void> {
  const url = stage.dataset.image ?? "";
  if (!hasWebGl()) return giveUp("This browser cannot show the sphere, so here is the flat image.", url);
  const progress = element("progress");
  try {
    const image = await fetchWithProgress(url, (percent) => {
      progress.setAttribute("aria-valuenow", String(percent));
      progress.style.setProperty("--done", `${percent}%`);
    });
    start(stage, URL.createObjectURL(image), url);
  } catch {
    // A picture may be shown even where a script may not read it.
    giveUp("The sphere could not be loaded, so here is the flat image.", url);
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
    hfov: FIELD_OF_VIEW,
    minHfov: 40,
    maxHfov: 120,
    // Stops at the first touch, and does not begin again.
    autoRotate: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : -ROTATION_DEGREES_PER_SECOND,
  });
  viewer.on("load", () => {
    document.body.dataset.ready = "sphere";
    element("progress").hidden = true;
    connectControls(viewer);
  });
  viewer.on("error", () => giveUp("This browser cannot show the sphere, so here is the flat image.", url));
  // For whoever wants to know where the reader looks: the address of no picture, and nothing private.
  stage.addEventListener("pointerup", () => stage.setAttribute("data-yaw", viewer.getYaw().toFixed(1)));
}

function connectControls(viewer: Pannellum): void {
  element("controls").hidden = false;
  const zoom = (degrees: number) => () => void viewer.stopAutoRotate().setHfov(viewer.getHfov() + degrees);
  element("zoom-in").addEventListener("click", zoom(-ZOOM_STEP));
  element("zoom-out").addEventListener("click", zoom(ZOOM_STEP));
  element("fullscreen").addEventListener("click", () => void toggleFullScreen());
  const motion = element("motion");
  // Only a device that has a gyroscope ever sends such an event with numbers in it.
  addEventListener("deviceorientation", ({ alpha }) => {
    if (alpha !== null && viewer.isOrientationSupported()) motion.hidden = false;
  });
  motion.addEventListener("click", () => {
    if (viewer.isOrientationActive()) viewer.stopOrientation();
    else viewer.startOrientation();
    motion.setAttribute("aria-pressed", String(viewer.isOrientationActive()));
  });
}

/** The whole stage, with caption and buttons, which pannellum's own full screen would leave behind. */
async function toggleFullScreen(): Promise<void> {
  if (document.fullscreenElement !== null) await document.exitFullscreen();
  else await document.querySelector(".scene")?.requestFullscreen();
}

function hasWebGl(): boolean {
  return document.createElement("canvas").getContext("webgl") !== null;
}

function giveUp(sentence: string, url: string): void {
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
