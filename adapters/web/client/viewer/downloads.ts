import { element } from "../element.js";
import type { Sphere, View } from "./sphere.js";
import { zip } from "./zip.js";

const FACE_PIXELS_MAX = 2048;
const VIEW_WIDTH_PIXELS = 1920;

const FACES: Readonly<Record<string, Pick<View, "yaw" | "pitch">>> = {
  front: { yaw: 0, pitch: 0 },
  right: { yaw: 90, pitch: 0 },
  back: { yaw: 180, pitch: 0 },
  left: { yaw: -90, pitch: 0 },
  up: { yaw: 0, pitch: 90 },
  down: { yaw: 0, pitch: -90 },
};

/** The menu with the downloads. `picture`: the whole picture, as soon as it has arrived. */
export function connectDownloads(sphere: Sphere, name: string, picture: () => Promise<Blob>, width: number): void {
  const menu = document.getElementById("downloads");
  if (menu === null) return;
  const note = element("save-note");
  const work = (id: string, make: () => Promise<void>) => {
    element(id).addEventListener("click", async (event) => {
      event.preventDefault();
      note.hidden = false;
      note.textContent = "Preparing the file …";
      try {
        await make();
        note.hidden = true;
        menu.hidePopover();
      } catch {
        note.textContent = "This file could not be made. Try again.";
      }
    });
  };
  const link = element("save-picture") as HTMLAnchorElement;
  work("save-picture", async () => {
    const blob = await picture().catch(() => undefined);
    // Without the bytes, the browser shows the picture of another origin instead of saving it.
    if (blob === undefined) window.open(link.href, "_blank", "noopener");
    else save(blob, `${name}.jpg`);
  });
  work("save-view", async () => {
    await picture();
    const { width: across, height } = sphere.canvas;
    const viewHeight = Math.round((VIEW_WIDTH_PIXELS * height) / across);
    save(await sphere.capture(VIEW_WIDTH_PIXELS, viewHeight, sphere.view, "image/png"), `${name}-view.png`);
  });
  work("save-cube", async () => {
    await picture();
    const side = Math.min(FACE_PIXELS_MAX, Math.round(width / 4));
    const files = new Map<string, Blob>();
    for (const [face, direction] of Object.entries(FACES))
      files.set(`${name}-${face}.jpg`, await sphere.capture(side, side, { ...direction, fov: 90 }, "image/jpeg"));
    save(await zip(files), `${name}-cube.zip`);
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
