import { element } from "../page.js";
import type { Sphere } from "./sphere.js";
import type { Start } from "./view.js";
import { zip } from "./zip.js";

const FACE_PIXELS_MAX = 2048;
const VIEW_WIDTH_PIXELS = 1920;

const FACES: Readonly<Record<string, Start>> = {
  front: { yaw: 0, pitch: 0 },
  right: { yaw: 90, pitch: 0 },
  back: { yaw: 180, pitch: 0 },
  left: { yaw: -90, pitch: 0 },
  up: { yaw: 0, pitch: 90 },
  down: { yaw: 0, pitch: -90 },
};

/** The panorama that is shown. `picture`: the file. `complete` resolves when the sphere shows it. */
type Shown = {
  readonly name: string;
  readonly width: number;
  readonly picture: () => Promise<Blob>;
  readonly complete: () => Promise<unknown>;
};

/** Makes a file; `undefined` if there is nothing to save. */
type Maker = (sphere: Sphere, shown: Shown) => Promise<readonly [Blob, string] | undefined>;

const MAKERS: Readonly<Record<string, Maker>> = {
  "save-picture": async (_, { picture, name }) => {
    const blob = await picture().catch(() => undefined);
    if (blob !== undefined) return [blob, `${name}.jpg`];
    // Without the bytes, the browser shows the picture of another origin instead of saving it.
    window.open((element("save-picture") as HTMLAnchorElement).href, "_blank", "noopener");
    return undefined;
  },
  "save-view": async (sphere, { complete, name }) => {
    await complete();
    const { width: across, height } = sphere.size;
    const size = { width: VIEW_WIDTH_PIXELS, height: Math.round((VIEW_WIDTH_PIXELS * height) / across) };
    return [await sphere.capture(size, sphere.view, "image/png"), `${name}-view.png`];
  },
  "save-cube": async (sphere, { complete, name, width }) => {
    await complete();
    const side = Math.min(FACE_PIXELS_MAX, Math.round(width / 4));
    const files = new Map<string, Blob>();
    const size = { width: side, height: side };
    for (const [face, direction] of Object.entries(FACES))
      files.set(`${name}-${face}.jpg`, await sphere.capture(size, { ...direction, fov: 90 }, "image/jpeg"));
    return [await zip(files), `${name}-cube.zip`];
  },
};

/** The menu with the downloads. */
export function connectDownloads(sphere: Sphere, shown: Shown): void {
  element("scene").addEventListener("click", async (event) => {
    const { id = "" } = (event.target as Element).closest("#downloads :is(a, button)") ?? {};
    const make = MAKERS[id];
    if (make === undefined) return;
    event.preventDefault();
    const note = element("save-note");
    note.hidden = false;
    note.textContent = "Preparing the file …";
    try {
      const made = await make(sphere, shown);
      if (made !== undefined) save(...made);
      note.hidden = true;
      element("downloads").hidePopover();
    } catch {
      note.textContent = "This file could not be made. Try again.";
    }
  });
}

/** A link to bytes of this page is saved whatever origin they came from. */
export const save = (blob: Blob, name: string): void => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
