import { element, localTimes } from "../page.js";
import { Camera, isReducedMotion } from "./camera.js";
import { connectDownloads } from "./downloads.js";
import { fetchWithProgress } from "./fetch-with-progress.js";
import { connectInput, ZOOM_STEP } from "./input.js";
import { connectMotion } from "./motion.js";
import { connectShare } from "./share.js";
import type { Sphere } from "./sphere.js";
import { fragmentOf, type Start, startOf, viewOf } from "./view.js";
import { connectVr } from "./vr.js";

const IDLE_MILLISECONDS = 4_000;
const NOTE_MILLISECONDS = 6_000;
/** After the view has come to rest. */
const ADDRESS_MILLISECONDS = 500;

const NO_SPHERE = "This browser cannot show the 360° view. This is the flat picture.";
const NOT_IN_FULL = "The picture could not be loaded in full. This is a small preview.";
const NO_PICTURE = "The 360° view could not be loaded. This is the flat picture.";

/** The panorama of the page. */
type Panorama = {
  readonly name: string;
  readonly width: number;
  readonly start: Start;
  /** The whole picture of the panorama, as a file. */
  readonly picture: () => Promise<Blob>;
  /** Resolves when it is shown. */
  readonly complete: () => Promise<unknown>;
};

const showProgress = (percent: number): void => {
  const progress = element("progress");
  progress.setAttribute("aria-valuenow", String(percent));
  progress.style.setProperty("--done", `${percent}%`);
};

async function show(stage: HTMLElement, hasWaited: boolean): Promise<void> {
  const scene = element("scene");
  scene.classList.toggle("arriving", hasWaited);
  let camera: Camera | undefined;
  connectShare(() => camera?.sharedView);
  connectIdle(scene);
  if (location.hash === "#share") document.getElementById("share")?.click();

  const { image: url = "", width = "0", name = "", start } = stage.dataset;
  const sphere = await openSphere(stage, startOf(start));
  if (sphere === undefined) return showFlatImage(NO_SPHERE, url);
  showProgress(0);
  element("progress").hidden = false;

  const present = async (picture: ImageBitmap, quality: "preview" | "full"): Promise<void> => {
    await sphere.show(picture);
    stage.dataset.quality = quality;
    if (camera !== undefined) return;
    camera = new Camera(sphere, stage, panorama, viewOf(location.hash));
    connectControls(stage, camera);
    connectDownloads(sphere, panorama);
    const { onView } = camera;
    camera.onView = () => {
      document.body.dataset.ready ??= "sphere";
      onView();
    };
    begin(camera);
  };

  let [fetched, completed]: [Promise<Blob>?, Promise<void>?] = [];
  const panorama: Panorama = {
    ...{ name, width: Number(width), start: startOf(start) },
    picture: () => {
      fetched ??= fetchWithProgress(url, showProgress);
      return fetched;
    },
    complete: () => {
      completed ??= panorama
        .picture()
        .then(createImageBitmap)
        .then((picture) => present(picture, "full"));
      return completed;
    },
  };
  // The preview is shown first; the picture, which takes longer to arrive, replaces it in the same view.
  const flat = element("flat") as HTMLImageElement;
  if (flat.src !== url)
    await flat
      .decode()
      .then(() => createImageBitmap(flat))
      .then((picture) => present(picture, "preview"))
      .catch(() => {});
  try {
    await panorama.complete();
  } catch {
    if (camera === undefined) return showFlatImage(NO_PICTURE, url);
    say(NOT_IN_FULL);
  } finally {
    element("progress").hidden = true;
  }
}

/** Loads what draws the sphere. `undefined` if it cannot be loaded, or without WebGL 2. */
const openSphere = async (stage: HTMLElement, start: Start): Promise<Sphere | undefined> => {
  try {
    const { Sphere } = await import("./sphere.js");
    return new Sphere(stage, start, !isReducedMotion());
  } catch {
    stage.hidden = true;
    return undefined;
  }
};

function begin(camera: Camera): void {
  const { sphere } = camera;
  const rotate = element("rotate");
  sphere.onRotation = (rotates) => {
    label(rotate, rotates ? "Pause rotation" : "Rotate");
    rotate.classList.toggle("rotating", rotates);
  };
  rotate.addEventListener("click", () => toggleRotation(camera));
  if (isReducedMotion() || viewOf(location.hash) !== undefined) return;
  if (document.body.classList.contains("bare")) sphere.rotate(true);
  else camera.playIntro();
}

const label = (button: HTMLElement, text: string): void => {
  button.setAttribute("aria-label", text);
  button.title = text;
};

const toggleRotation = (camera: Camera): void => {
  const rotates = camera.isAtRest;
  camera.stopMoving();
  camera.sphere.rotate(rotates);
};

function connectControls(stage: HTMLElement, camera: Camera): void {
  element("bar").hidden = false;
  const onPlainWheel = (): void => {
    const key = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";
    say(`Hold ${key} and scroll to zoom.`);
  };
  const fullScreen = element("fullscreen");
  connectInput(stage, camera, onPlainWheel, {
    " ": () => toggleRotation(camera),
    f: () => fullScreen.hidden || fullScreen.click(),
  });
  element("zoom-in").addEventListener("click", () => camera.zoom(ZOOM_STEP));
  element("zoom-out").addEventListener("click", () => camera.zoom(1 / ZOOM_STEP));
  connectMotion(camera, say);
  void connectVr(camera, say);
  connectAddress(camera);
  // iPhones have no full screen for pages; frames need the permission of the page around them.
  const scene = element("scene");
  fullScreen.hidden = !document.fullscreenEnabled || scene.requestFullscreen === undefined;
  fullScreen.addEventListener("click", () => {
    const change = document.fullscreenElement === null ? scene.requestFullscreen() : document.exitFullscreen();
    void change.catch(() => say("This browser does not allow full screen here."));
  });
  document.addEventListener("fullscreenchange", () =>
    label(fullScreen, document.fullscreenElement === null ? "Full screen" : "Leave full screen"),
  );
}

/** The address of the page follows the view that the reader has chosen, and the view follows the address. */
function connectAddress(camera: Camera): void {
  let timer = 0;
  let isChanged = false;
  camera.onTakeOver = () => {
    isChanged = true;
  };
  const showNeedle = connectCompass(camera);
  camera.onView = () => {
    showNeedle();
    clearTimeout(timer);
    if (window.top !== window || !isChanged) return;
    timer = setTimeout(() => {
      if (camera.isAtRest) history.replaceState(null, "", fragmentOf(camera.sharedView));
    }, ADDRESS_MILLISECONDS);
  };
  addEventListener("hashchange", () => {
    const view = viewOf(location.hash);
    if (view === undefined) return;
    camera.stopMoving();
    camera.lookAs(view);
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

/** The needle shows where the start view is. */
function connectCompass(camera: Camera): () => void {
  const compass = element("compass");
  compass.addEventListener("click", () => {
    camera.stopMoving();
    camera.home();
  });
  return () => {
    compass.style.rotate = `${camera.fromStart.toFixed(1)}deg`;
  };
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

/** Hides the controls that need the sphere. The picture can still be saved and shared. */
function showFlatImage(sentence: string, url: string): void {
  hide("progress", "viewer", "rotate", "zoom-out", "zoom-in", "keys", "save-view", "save-cube");
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

localTimes(document);
void (async () => {
  const hasWaited = document.getElementById("waiting") !== null;
  // client/viewer/waiting.ts replaces the content of the page then.
  if (hasWaited) await new Promise((resolve) => document.addEventListener("waited", resolve, { once: true }));
  const stage = document.getElementById("viewer");
  if (stage !== null) await show(stage, hasWaited);
})();
