import { element } from "../element.js";
import { Camera, isReducedMotion } from "./camera.js";
import { connectDownloads } from "./downloads.js";
import { fetchWithProgress } from "./fetch-with-progress.js";
import { connectInput, ZOOM_STEP } from "./input.js";
import { connectMotion } from "./motion.js";
import { connectShare } from "./share.js";
import { type Picture, Sphere } from "./sphere.js";
import { viewOf } from "./view-in-url.js";
import { connectVr } from "./vr.js";
import { wait } from "./waiting.js";

const IDLE_MILLISECONDS = 4_000;
const NOTE_MILLISECONDS = 6_000;

const NO_SPHERE = "This browser cannot show the 360° view. This is the flat picture.";
const NO_PICTURE = "The 360° view could not be loaded. This is the flat picture.";

async function show(stage: HTMLElement, hasWaited: boolean): Promise<void> {
  const { image: url = "", width = "0", name = "" } = stage.dataset;
  const scene = element("scene");
  scene.classList.toggle("arriving", hasWaited);
  let camera: Camera | undefined;
  connectShare(() => camera?.sharedView);
  connectIdle(scene);
  if (location.hash === "#share") document.getElementById("share")?.click();

  const sphere = makeSphere(stage);
  if (sphere === undefined) return showFlatImage(NO_SPHERE, url);
  const progress = element("progress");
  const blob = fetchWithProgress(url, (percent) => {
    progress.setAttribute("aria-valuenow", String(percent));
    progress.style.setProperty("--done", `${percent}%`);
  });
  blob.catch(() => {}); // handled below, after the preview

  const present = (picture: Picture, quality: "preview" | "full"): void => {
    sphere.show(picture);
    if (picture instanceof ImageBitmap) picture.close(); // 30 MB, and the graphics card has a copy now
    stage.dataset.quality = quality;
    if (camera !== undefined) {
      camera.redraw();
      return;
    }
    camera = new Camera(sphere, stage, Number(width), viewOf(location.hash));
    stage.append(sphere.canvas);
    connectControls(stage, camera);
    connectDownloads(sphere, name, () => blob, Number(width));
    start(camera);
    document.body.dataset.ready = "sphere";
  };

  // The preview is shown first, if it arrives first; the picture replaces it in the same view.
  const flat = element("flat") as HTMLImageElement;
  let isComplete = false;
  const preview = flat.src === url ? Promise.reject() : flat.decode();
  const previewed = preview.then(
    () => isComplete || present(flat, "preview"),
    () => {}, // the picture itself may still arrive
  );
  try {
    const picture = await decoded(await blob, sphere.widthMax);
    isComplete = true;
    present(picture, "full");
  } catch {
    await previewed;
    if (camera === undefined) return showFlatImage(NO_PICTURE, url);
    say("The picture could not be loaded in full. This is a small preview.");
  }
  progress.hidden = true;
  sphere.canvas.addEventListener("webglcontextrestored", async () => {
    sphere.prepare();
    const again = await blob.then((bytes) => decoded(bytes, sphere.widthMax)).catch(() => flat);
    sphere.show(again);
    camera?.redraw();
  });
}

/** Decodes outside the main thread. A picture that is too wide for the graphics card is made smaller. */
const decoded = async (blob: Blob, widthMax: number): Promise<ImageBitmap> => {
  const picture = await createImageBitmap(blob);
  if (picture.width <= widthMax) return picture;
  return createImageBitmap(picture, { resizeWidth: widthMax, resizeHeight: widthMax / 2, resizeQuality: "high" });
};

const makeSphere = (stage: HTMLElement): Sphere | undefined => {
  const canvas = document.createElement("canvas");
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault()); // so that it is restored
  try {
    return new Sphere(canvas);
  } catch {
    stage.hidden = true;
    return undefined;
  }
};

function start(camera: Camera): void {
  const rotate = element("rotate");
  camera.onRotation = (rotates) => {
    rotate.setAttribute("aria-label", rotates ? "Pause rotation" : "Rotate");
    rotate.title = rotates ? "Pause rotation" : "Rotate";
    rotate.classList.toggle("rotating", rotates);
  };
  rotate.addEventListener("click", () => {
    const rotates = !camera.isRotating;
    camera.stopMoving();
    camera.rotate(rotates);
  });
  const isGivenView = viewOf(location.hash) !== undefined;
  if (isReducedMotion() || isGivenView) return;
  if (!document.body.classList.contains("bare")) camera.playIntro();
  camera.rotate(true);
}

function connectControls(stage: HTMLElement, camera: Camera): void {
  element("bar").hidden = false;
  connectInput(stage, camera, () => {
    const key = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";
    say(`Hold ${key} and scroll to zoom.`);
  });
  element("zoom-in").addEventListener("click", () => camera.zoom(ZOOM_STEP));
  element("zoom-out").addEventListener("click", () => camera.zoom(1 / ZOOM_STEP));
  connectMotion(camera, say);
  void connectVr(camera, say);
  addEventListener("hashchange", () => {
    const view = viewOf(location.hash);
    if (view === undefined) return;
    camera.stopMoving();
    camera.lookAs(view);
  });
  // iPhones have no full screen for pages; frames need the permission of the page around them.
  const scene = element("scene");
  const fullScreen = element("fullscreen");
  fullScreen.hidden = !document.fullscreenEnabled || scene.requestFullscreen === undefined;
  fullScreen.addEventListener("click", () => {
    const change = document.fullscreenElement === null ? scene.requestFullscreen() : document.exitFullscreen();
    void change.catch(() => say("This browser does not allow full screen here."));
  });
}

/** Hides the caption while nothing happens, unless it has the focus. */
function connectIdle(scene: HTMLElement): void {
  let timer = 0;
  const wake = (): void => {
    scene.classList.remove("idle");
    clearTimeout(timer);
    timer = setTimeout(() => scene.classList.add("idle"), IDLE_MILLISECONDS);
  };
  for (const type of ["pointermove", "pointerdown", "keydown", "focusin", "wheel"])
    document.addEventListener(type, wake, { passive: true });
  wake();
}

let noteTimer = 0;

/** Shows a sentence for a moment. */
function say(sentence: string): void {
  const note = element("stage-note");
  note.textContent = sentence;
  note.hidden = false;
  clearTimeout(noteTimer);
  noteTimer = setTimeout(() => {
    note.hidden = true;
  }, NOTE_MILLISECONDS);
}

/** Frames of other pages lack some of these parts. */
function hide(...ids: readonly string[]): void {
  for (const id of ids) document.getElementById(id)?.setAttribute("hidden", "");
}

/** What needs the sphere is hidden; the picture can still be saved and shared. */
function showFlatImage(sentence: string, url: string): void {
  hide("progress", "viewer", "rotate", "zoom-out", "zoom-in", "save-view", "save-cube");
  element("bar").hidden = false;
  const note = element("stage-note");
  const flat = element("flat") as HTMLImageElement;
  const tell = (text: string, ready: string): void => {
    note.textContent = text;
    note.hidden = false;
    document.body.dataset.ready = ready;
  };
  flat.addEventListener("load", () => tell(sentence, "flat"));
  flat.addEventListener("error", () => {
    flat.hidden = true;
    hide("download");
    tell("The picture could not be loaded. Reload the page to try again.", "nothing");
  });
  // An image element may show an image that scripts may not read.
  flat.removeAttribute("crossorigin");
  flat.classList.add("alone");
  flat.src = url;
}

void (async () => {
  const waiting = document.getElementById("waiting");
  if (waiting !== null) await wait(waiting);
  const stage = document.getElementById("viewer");
  if (stage !== null) await show(stage, waiting !== null);
})();
