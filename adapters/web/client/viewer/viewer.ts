import { element } from "../element.js";
import { localTimes } from "../local-times.js";
import { Camera, isReducedMotion } from "./camera.js";
import { connectDownloads } from "./downloads.js";
import { fetchWithProgress } from "./fetch-with-progress.js";
import { connectFilm, hideFilm } from "./film.js";
import { connectInput, ZOOM_STEP } from "./input.js";
import { connectMotion } from "./motion.js";
import { connectShare } from "./share.js";
import { type Picture, Sphere } from "./sphere.js";
import { openTiles, showTiles, type Tiles } from "./tiles.js";
import { travelBetween } from "./travel.js";
import { fragmentOf, type Start, startOf, viewOf } from "./view-in-url.js";
import { connectVr } from "./vr.js";

const IDLE_MILLISECONDS = 4_000;
const NOTE_MILLISECONDS = 6_000;
/** After the view has come to rest. */
const ADDRESS_MILLISECONDS = 500;

const NO_SPHERE = "This browser cannot show the 360° view. This is the flat picture.";
const NOT_IN_FULL = "The picture could not be loaded in full. This is a small preview.";
const NO_PICTURE = "The 360° view could not be loaded. This is the flat picture.";

/** A panorama. */
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
  readonly signal: AbortSignal;
  /** It is not needed any more. */
  readonly stop: () => void;
};

/** The panorama that the attributes of the stage describe. */
const panoramaOf = (stage: HTMLElement): Panorama => {
  const { image: url = "", width = "0", name = "", start, tiles: tilesUrl } = stage.dataset;
  const stopping = new AbortController();
  const { signal } = stopping;
  let fetched: Promise<Blob> | undefined;
  const picture = (): Promise<Blob> => {
    fetched ??= fetchWithProgress(url, (percent) => signal.aborted || showProgress(percent), signal);
    fetched.catch(() => {}); // handled below, after the preview
    return fetched;
  };
  if (tilesUrl === undefined) void picture();
  showProgress(0);
  element("progress").hidden = false;
  const of: Panorama = {
    ...{ url, name, tilesUrl, picture, signal },
    width: Number(width),
    start: startOf(start),
    complete: () => of.tiles?.loadAll() ?? picture(),
    stop: () => stopping.abort(),
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
  connectFilm(scene);
  if (location.hash === "#share") document.getElementById("share")?.click();

  const sphere = makeSphere(stage);
  if (sphere === undefined) return showFlatImage(NO_SPHERE, stage.dataset.image ?? "");
  let shown = panoramaOf(stage);

  const present = (of: Panorama, picture: Picture, quality: "preview" | "full"): void => {
    if (of !== shown) return;
    sphere.show(picture);
    if (picture instanceof ImageBitmap) picture.close(); // 30 MB, and the graphics card has a copy now
    stage.dataset.quality = quality;
    if (camera !== undefined) {
      camera.redraw();
      return;
    }
    camera = new Camera(sphere, stage, of.width);
    camera.enter(of.width, of.start, viewOf(location.hash));
    connectControls(stage, camera, travel);
    connectDownloads(camera, () => shown);
    const { onView } = camera;
    camera.onView = () => {
      if (document.body.dataset.ready === undefined) stage.append(sphere.canvas);
      document.body.dataset.ready ??= "sphere";
      onView();
      shown.tiles?.look();
    };
    start(camera);
  };

  /** Shows tiles over the preview. Resolves when those in sight are shown or have failed; rejects without tiles. */
  const loadTiles = async (of: Panorama, url: string, previewed: Promise<boolean>): Promise<void> => {
    const [source, isPreviewed] = await Promise.all([openTiles(url, of.signal), previewed]);
    if (!isPreviewed) throw new Error("there is no preview");
    await new Promise<void>((resolve) => {
      of.signal.addEventListener("abort", () => resolve());
      of.tiles = showTiles(source, {
        sphere,
        signal: of.signal,
        seesAll: () => camera !== undefined && (camera.isPlanet || camera.isElsewhere || sphere.isSplit),
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
  const load = async (of: Panorama): Promise<void> => {
    const flat = element("flat") as HTMLImageElement;
    let isComplete = false;
    const preview = flat.src === of.url ? Promise.reject() : flat.decode();
    const previewed = preview.then(
      () => {
        if (!isComplete) present(of, flat, "preview");
        return true;
      },
      () => false, // the picture itself may still arrive
    );
    try {
      const hasTiles = await (of.tilesUrl === undefined
        ? false
        : loadTiles(of, of.tilesUrl, previewed).then(
            () => true,
            () => false,
          ));
      if (hasTiles || of !== shown) return;
      const picture = await decoded(await of.picture(), sphere.widthMax);
      isComplete = true;
      present(of, picture, "full");
    } catch {
      await previewed;
      if (of !== shown) return;
      if (camera === undefined) return showFlatImage(NO_PICTURE, of.url);
      say(NOT_IN_FULL);
    } finally {
      if (of === shown) element("progress").hidden = true;
    }
  };

  const travel = travelBetween(stage, {
    leave: () => {
      shown.stop();
      sphere.leave();
    },
    arrive: async () => {
      shown = panoramaOf(stage);
      camera?.enter(shown.width, shown.start, viewOf(location.hash));
      camera?.crossfade();
      if (camera !== undefined) showPlanetState(camera);
      await load(shown);
    },
    onSlides: (slides) => {
      document.getElementById("slides")?.setAttribute("aria-pressed", String(slides));
      if (slides && !isReducedMotion()) camera?.rotate(true);
    },
  });
  await load(shown);
  travel.prefetch();
  sphere.canvas.addEventListener("webglcontextrestored", async () => {
    sphere.prepare();
    shown.tiles?.stop();
    shown.tiles = undefined;
    const again = await shown
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

type Travel = ReturnType<typeof travelBetween>;

function connectControls(stage: HTMLElement, camera: Camera, travel: Travel): void {
  element("bar").hidden = false;
  const onPlainWheel = (): void => {
    const key = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";
    say(`Hold ${key} and scroll to zoom.`);
  };
  const fullScreen = element("fullscreen");
  connectInput(stage, camera, onPlainWheel, {
    " ": () => toggleRotation(camera),
    f: () => fullScreen.hidden || fullScreen.click(),
    pageup: () => travel.follow("previous"),
    pagedown: () => travel.follow("next"),
  });
  element("zoom-in").addEventListener("click", () => camera.zoom(ZOOM_STEP));
  element("zoom-out").addEventListener("click", () => camera.zoom(1 / ZOOM_STEP));
  connectMotion(camera, say);
  void connectVr(camera, say);
  connectAddress(camera, travel);
  connectMore(camera, travel);
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
function connectAddress(camera: Camera, travel: Travel): void {
  let timer = 0;
  /** The path of the page whose view the reader has changed. */
  let changed: string | undefined;
  camera.onTakeOver = () => {
    changed = location.pathname;
    if (travel.slides) travel.showSlides(false);
  };
  const showNeedle = connectCompass(camera);
  camera.onView = () => {
    showNeedle();
    clearTimeout(timer);
    if (changed !== location.pathname) changed = undefined;
    if (window.top !== window || changed === undefined) return;
    timer = setTimeout(() => {
      if (changed === location.pathname && camera.isAtRest)
        history.replaceState(null, "", fragmentOf(camera.sharedView));
    }, ADDRESS_MILLISECONDS);
  };
  addEventListener("hashchange", () => {
    const view = viewOf(location.hash);
    if (view === undefined) return;
    camera.stopMoving();
    camera.lookAs(view);
  });
}

/** The menu with what is not needed at every visit. Its parts may be replaced by those of another panorama. */
function connectMore(camera: Camera, travel: Travel): void {
  const actions: Readonly<Record<string, () => void>> = {
    slides: () => travel.showSlides(!travel.slides),
    planet: () => {
      camera.stopMoving();
      camera.showPlanet(!camera.isPlanet);
      showPlanetState(camera);
    },
    split: () => startSplit(camera),
  };
  element("scene").addEventListener("click", (event) => {
    const act = actions[(event.target as Element).closest("#more-menu button")?.id ?? ""];
    if (act === undefined) return;
    element("more-menu").hidePopover();
    act();
  });
}

/** Hides caption and strip while nothing happens, unless they have the focus. */
function connectIdle(scene: HTMLElement): void {
  let timer = 0;
  const wake = (): void => {
    scene.classList.remove("idle");
    clearTimeout(timer);
    timer = setTimeout(() => {
      scene.classList.add("idle");
      hideFilm();
    }, IDLE_MILLISECONDS);
  };
  for (const type of ["pointermove", "pointerdown", "keydown", "focusin", "wheel"])
    document.addEventListener(type, wake, { passive: true });
  wake();
}

const showPlanetState = (camera: Camera): void =>
  document.getElementById("planet")?.setAttribute("aria-pressed", String(camera.isPlanet));

/** For phones whose browser knows no headset: two views for a box with lenses. A touch of the picture ends it. */
function startSplit(camera: Camera): void {
  const scene = element("scene");
  const show = (isSplit: boolean): void => {
    scene.classList.toggle("split", isSplit);
    camera.split(isSplit);
  };
  show(true);
  const motion = element("motion");
  if (!motion.hidden && motion.getAttribute("aria-pressed") !== "true") motion.click();
  void scene.requestFullscreen?.().catch(() => {});
  say("Put the phone into its box. Touch the picture to leave.");
  const end = new AbortController();
  const leave = (): void => {
    end.abort();
    show(false);
    if (document.fullscreenElement !== null) void document.exitFullscreen();
  };
  const { signal } = end;
  // A touch that is long, moves or follows a swipe at once gives no click.
  element("viewer").addEventListener("pointerup", leave, { signal });
  document.addEventListener("keydown", ({ key }) => key === "Escape" && leave(), { signal });
  document.addEventListener("fullscreenchange", () => document.fullscreenElement === null && leave(), { signal });
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
  hide("progress", "viewer", "rotate", "zoom-out", "zoom-in", "more", "save-view", "save-cube");
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
