import { element } from "../element.js";
import type { Camera } from "./camera.js";
import { turnOf } from "./sphere.js";

let isConnected = false;

/** Shows the hotspots of the page over the sphere, in every view from the ground. Called again after a travel. */
export const placeHotspots = (camera: Camera): void => {
  if (!isConnected) connect(camera);
  isConnected = true;
  sheetOf(element("hotspots"))?.addEventListener("load", () => camera.redraw());
  camera.redraw();
};

const sheetOf = (list: HTMLElement): HTMLLinkElement | null => list.querySelector("link");

const connect = (camera: Camera): void => {
  const { onView } = camera;
  camera.onView = () => {
    onView();
    place(camera);
  };
  const scene = element("scene");
  // The list is another one after each travel.
  const inList = (target: EventTarget | null, what: string): HTMLElement | null =>
    (target as Element).closest(`#hotspots ${what}`);
  scene.addEventListener("click", ({ target }) => {
    const button = inList(target, "button");
    if (button === null) return;
    camera.stopMoving();
    const opens = button.getAttribute("aria-expanded") !== "true";
    close();
    if (opens) setOpen(button, true);
  });
  scene.addEventListener("keydown", ({ key, target }) => {
    if (key === "Escape" && inList(target, "li")) close();
  });
  // The keyboard also reaches what is out of sight. A little above the middle, it has room for its note.
  scene.addEventListener("focusin", ({ target }) => {
    const item = inList(target, "li");
    if (item === null || !(target as Element).matches(":focus-visible")) return;
    camera.stopMoving();
    const [yaw = 0, pitch = 0] = placeOf(item);
    camera.look({ yaw, pitch: pitch - camera.view.fov / 12 });
    place(camera);
  });
};

const setOpen = (button: Element, opens: boolean): void => {
  button.setAttribute("aria-expanded", String(opens));
  (button.nextElementSibling as HTMLElement).hidden = !opens;
};

const close = (): void => {
  for (const button of element("hotspots").querySelectorAll("[aria-expanded=true]")) setOpen(button, false);
};

/** Degrees to the right and upwards. */
const placeOf = ({ dataset }: HTMLElement): number[] => (dataset.at ?? "").split(",").map(Number);

const radians = (degrees = 0): number => (degrees * Math.PI) / 180;

/** What is out of sight can still have the focus. The planet, two views and a headset show none. */
const place = (camera: Camera): void => {
  const list = document.getElementById("hotspots");
  if (list === null) return;
  const { sphere, view } = camera;
  list.hidden = sphere.bend > 0 || sphere.isSplit || camera.isElsewhere || sheetOf(list)?.sheet === null;
  if (list.hidden) return;
  const turn = turnOf(view, sphere.roll);
  const scale = Math.tan(radians(view.fov) / 2);
  const ratio = sphere.canvas.height / sphere.canvas.width;
  for (const item of list.getElementsByTagName("li")) {
    const [yaw = 0, pitch = 0] = placeOf(item).map(radians);
    const direction = [Math.cos(pitch) * Math.sin(yaw), Math.sin(pitch), -Math.cos(pitch) * Math.cos(yaw)];
    const along = (column: number): number =>
      direction.reduce((sum, part, row) => sum + part * (turn[3 * column + row] ?? 0), 0);
    const ahead = -along(2);
    const [x, y] = [along(0) / ahead / scale, along(1) / ahead / scale / ratio];
    const isAway = ahead <= 0 || Math.abs(x) > 1 || Math.abs(y) > 1;
    item.classList.toggle("away", isAway);
    item.classList.toggle("low", y < 0);
    item.style.setProperty("--x", isAway ? "50" : (50 + 50 * x).toFixed(2));
    item.style.setProperty("--y", isAway ? "50" : (50 - 50 * y).toFixed(2));
  }
};
