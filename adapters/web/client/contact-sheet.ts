import { element } from "./element.js";
import { Camera } from "./viewer/camera.js";
import { connectInput } from "./viewer/input.js";
import { Sphere } from "./viewer/sphere.js";

/*
 * The sheet of `panorama provider try` (bootstrap/trial/contact-sheet.ts): opens a picture as a sphere. The
 * next one is shown in the same view, so that the same place of two pictures can be compared.
 */

/** Called by the script of each picture: a page from a file may not read the pictures beside it, but run scripts. */
declare global {
  interface Window {
    showSphere(url: string): void;
  }
}

const dialog = element("sphere-dialog") as HTMLDialogElement;
const stage = element("stage");
const note = element("sphere-note");
const links = [...document.querySelectorAll<HTMLAnchorElement>("a[data-sphere]")];

let camera: Camera | undefined;
let shown = -1;

const say = (sentence: string): void => {
  note.textContent = sentence;
  note.hidden = sentence === "";
};

/** Resolves to the picture of this link. */
const load = (link: HTMLAnchorElement): Promise<HTMLImageElement> =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    window.showSphere = (url) => {
      const picture = new Image();
      picture.src = url;
      picture.decode().then(() => resolve(picture), reject);
    };
    script.src = link.dataset.sphere ?? "";
    script.onload = () => script.remove();
    script.onerror = () => reject(new Error("the script is not there"));
    document.head.append(script);
  });

const sphereOf = (pictureWidth: number): Sphere => {
  const sphere = new Sphere(document.createElement("canvas"));
  stage.append(sphere.canvas);
  camera = new Camera(sphere, stage, pictureWidth);
  connectInput(stage, camera, () => {});
  return sphere;
};

const open = async (index: number): Promise<void> => {
  const link = links[index];
  if (link === undefined) return;
  shown = index;
  if (!dialog.open) dialog.showModal();
  element("sphere-title").textContent = link.dataset.title ?? "";
  say("Loading…");
  delete stage.dataset.shown;
  try {
    const picture = await load(link);
    if (shown !== index) return;
    const { naturalWidth } = picture;
    (camera?.sphere ?? sphereOf(naturalWidth)).show(picture);
    if (camera !== undefined) camera.pictureWidth = naturalWidth;
    camera?.look({});
    stage.dataset.shown = String(index);
    say("");
  } catch {
    say("This picture cannot be shown as a sphere here. Its JPEG file is beside the sheet.");
  }
};

for (const [index, link] of links.entries()) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void open(index);
  });
}
element("sphere-close").addEventListener("click", () => dialog.close());
element("sphere-previous").addEventListener("click", () => void open((shown + links.length - 1) % links.length));
element("sphere-next").addEventListener("click", () => void open((shown + 1) % links.length));
for (const button of document.querySelectorAll<HTMLElement>("[data-look]")) {
  button.addEventListener("click", () => {
    const [yaw = 0, pitch = 0] = (button.dataset.look ?? "").split(",").map(Number);
    camera?.stopMoving();
    camera?.look({ yaw, pitch });
  });
}
