import { element } from "../element.js";
import { localTimes } from "../local-times.js";
import { Camera, isReducedMotion } from "./camera.js";
import { connectDownloads } from "./downloads.js";
import { fetchWithProgress } from "./fetch-with-progress.js";
import { connectInput, ZOOM_STEP } from "./input.js";
import { connectMotion } from "./motion.js";
import { connectShare } from "./share.js";
import { type Picture, Sphere } from "./sphere.js";
import { openTiles, showTiles, type Tiles } from "./tiles.js";
import { fragmentOf, type Start, startOf, viewOf } from "./view-in-url.js";
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
  readonly url: string;
  readonly width: number;
  readonly name: string;
  readonly start: Start;
  readonly tilesUrl: string | undefined;
  tiles?: Tiles | undefined;
  /** Its whole picture, which is loaded at the first call. */
  readonly picture: () => Promise<Blob>;
  /** Resolves when all of it is shown. */
  readonly complete: () => Promise<unknown>;
};

/** The panorama that the attributes of the stage describe. */
const panoramaOf = (stage: HTMLElement): Panorama => {
  const { image: url = "", width = "0", name = "", start, tiles: tilesUrl } = stage.dataset;
  let fetched: Promise<Blob> | undefined;
  const picture = (): Promise<Blob> => {
    fetched ??= fetchWithProgress(url, showProgress);
    fetched.catch(() => {}); // handled below, after the preview
    return fetched;
  };
  if (tilesUrl === undefined) void picture();
  showProgress(0);
  element("progress").hidden = false;
  const of: Panorama = {
    ...{ url, name, tilesUrl, picture },
    width: Number(width),
    start: startOf(start),
    complete: () => of.tiles?.loadAll() ?? picture(),
  };
  return of;
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

  const sphere = makeSphere(stage);
  if (sphere === undefined) return showFlatImage(NO_SPHERE, stage.dataset.image ?? "");
  const panorama = panoramaOf(stage);

  const present = (picture: Picture, quality: "preview" | "full"): void => {
    sphere.show(picture);
    if (picture instanceof ImageBitmap) picture.close(); // 30 MB, and the graphics card has a copy now
    stage.dataset.quality = quality;
    if (camera !== undefined) {
      camera.redraw();
      return;
    }
    camera = new Camera(sphere, stage, panorama, viewOf(location.hash));
    connectControls(stage, camera);
    connectDownloads(camera, panorama);
    const { onView } = camera;
    camera.onView = () => {
      if (document.body.dataset.ready === undefined) stage.append(sphere.canvas);
      document.body.dataset.ready ??= "sphere";
      onView();
      panorama.tiles?.look();
    };
    start(camera);
  };

  /** Shows tiles over the preview. Resolves when those in sight are shown or have failed; rejects without tiles. */
  const loadTiles = async (url: string, previewed: Promise<boolean>): Promise<void> => {
    const [source, isPreviewed] = await Promise.all([openTiles(url), previewed]);
    if (!isPreviewed) throw new Error("there is no preview");
    await new Promise<void>((resolve) => {
      panorama.tiles = showTiles(source, {
        sphere,
        seesAll: () => camera?.isElsewhere === true,
        onTile: (done, hasFailed) => {
          camera?.sharpen();
          showProgress(Math.round(100 * done));
          if (done === 1) stage.dataset.quality = "full";
          if (hasFailed) say(NOT_IN_FULL);
          if (done === 1 || hasFailed) resolve();
        },
      });
    });
  };

  /** The preview is shown first, if it arrives first; tiles or the picture replace it in the same view. */
  const load = async ({ url, tilesUrl, picture }: Panorama): Promise<void> => {
    const flat = element("flat") as HTMLImageElement;
    let isComplete = false;
    const preview = flat.src === url ? Promise.reject() : flat.decode();
    const previewed = preview.then(
      () => {
        if (!isComplete) present(flat, "preview");
        return true;
      },
      () => false, // the picture itself may still arrive
    );
    try {
      const hasTiles = await (tilesUrl === undefined
        ? false
        : loadTiles(tilesUrl, previewed).then(
            () => true,
            () => false,
          ));
      if (hasTiles) return;
      const whole = await decoded(await picture(), sphere.widthMax);
      isComplete = true;
      present(whole, "full");
    } catch {
      await previewed;
      if (camera === undefined) return showFlatImage(NO_PICTURE, url);
      say(NOT_IN_FULL);
    } finally {
      element("progress").hidden = true;
    }
  };

  await load(panorama);
  sphere.canvas.addEventListener("webglcontextrestored", async () => {
    sphere.prepare();
    panorama.tiles?.stop();
    panorama.tiles = undefined;
    const again = await panorama
      .picture()
      .then((bytes) => decoded(bytes, sphere.widthMax))
      .catch(() => element("flat"));
    sphere.show(again as Picture);
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
    label(rotate, rotates ? "Pause rotation" : "Rotate");
    rotate.classList.toggle("rotating", rotates);
  };
  rotate.addEventListener("click", () => toggleRotation(camera));
  if (isReducedMotion() || viewOf(location.hash) !== undefined) return;
  if (!document.body.classList.contains("bare")) camera.playIntro();
  camera.rotate(true);
}

const label = (button: HTMLElement, text: string): void => {
  button.setAttribute("aria-label", text);
  button.title = text;
};

const toggleRotation = (camera: Camera): void => {
  const rotates = !camera.isRotating;
  camera.stopMoving();
  camera.rotate(rotates);
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

/** What needs the sphere is hidden; the picture can still be saved and shared. */
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
