import { element } from "../element.js";
import { isDone, postForm } from "../post-form.js";
import { readPage } from "../read-page.js";
import type { Camera } from "./camera.js";

type Say = (sentence: string) => void;

/** Shows the form with the hotspots over the sphere: the page of the owner has it. */
export const editHotspots = async (camera: Camera, say: Say): Promise<void> => {
  if (document.getElementById("hotspot-editor") !== null) return;
  const words = element("edit-hotspots").dataset;
  const answer = await fetch(words.page ?? "").catch(() => undefined);
  const form = isDone(answer) ? part(await answer?.text(), "hotspot-editor") : undefined;
  if (form === undefined) return say(words.wordsFailed ?? "");
  camera.stopMoving();
  if (camera.isPlanet) element("planet").click();
  // The next panorama must not come while somebody writes.
  document.querySelector<HTMLButtonElement>("#slides[aria-pressed=true]")?.click();
  show(camera, say, form as HTMLFormElement, { saved: list(), isRefused: false });
};

const part = (page: string | undefined, id: string): HTMLElement | undefined => {
  const found = readPage(page ?? "").getElementById(id);
  return found === null ? undefined : document.importNode(found, true);
};

/** The markers over the sphere. */
const list = (): HTMLUListElement => element("hotspots").querySelector("ul") as HTMLUListElement;

const action = (inside: ParentNode, name: string): HTMLButtonElement =>
  inside.querySelector(`[data-act=${name}]`) as HTMLButtonElement;

const input = (fields: ParentNode, name: "yaw" | "pitch" | "note"): HTMLInputElement =>
  fields.querySelector(`[name=${name}]`) as HTMLInputElement;

/** Whether the event leads to another panorama: travel.ts goes there without loading a page. */
const leads = (event: Event, here: string): boolean => {
  if (event.type === "popstate") return location.pathname + location.search !== here;
  const target = event.target as Element;
  return event instanceof KeyboardEvent
    ? target.id === "viewer" && event.key.startsWith("Page")
    : target.closest("#previous, #next, #film a, #slides") !== null;
};

/**
 * `saved`: the markers that come back when the form is closed. Meanwhile numbers are shown. `isRefused`: the form has
 * edits. They are lost only after a question.
 */
const show = (
  camera: Camera,
  say: Say,
  form: HTMLFormElement,
  { saved, isRefused }: { readonly saved: HTMLUListElement; readonly isRefused: boolean },
): void => {
  const words = element("edit-hotspots").dataset;
  const drafts = document.createElement("ul");
  list().replaceWith(drafts);
  element("scene").append(form);
  const all = (): HTMLFieldSetElement[] => [...form.querySelectorAll("fieldset")];
  const blank = all().at(-1) as HTMLFieldSetElement;
  blank.remove();

  const update = (): void => {
    drafts.replaceChildren(
      ...all().map((fields, index) => {
        const number = String(index + 1);
        (fields.querySelector(".number") as HTMLElement).textContent = number;
        input(fields, "note").required = true;
        const item = document.createElement("li");
        item.dataset.at = `${input(fields, "yaw").value},${input(fields, "pitch").value}`;
        item.append(Object.assign(document.createElement("span"), { className: "spot", textContent: number }));
        return item;
      }),
    );
    action(form, "add").disabled = all().length >= Number(form.dataset.max);
    camera.redraw();
  };
  const moveHere = (fields: HTMLFieldSetElement): void => {
    for (const name of ["yaw", "pitch"] as const)
      input(fields, name).value = String(Number(camera.view[name].toFixed(1)));
    update();
  };
  const open = new AbortController();
  const close = (): void => {
    open.abort();
    form.remove();
    drafts.replaceWith(saved);
    camera.redraw();
    element("more").focus();
  };
  const actions: Readonly<Record<string, (fields: HTMLFieldSetElement) => void>> = {
    add: () => {
      const fields = blank.cloneNode(true) as HTMLFieldSetElement;
      (all().at(-1) ?? action(form, "add").parentElement?.previousElementSibling)?.after(fields);
      moveHere(fields);
      input(fields, "note").focus();
    },
    move: moveHere,
    delete: (fields) => {
      fields.remove();
      update();
      action(form, "add").focus();
    },
    close: () => void (mayLeave() && close()),
  };
  form.addEventListener("click", ({ target }) => {
    const button = (target as Element).closest<HTMLElement>("[data-act]");
    actions[button?.dataset.act ?? ""]?.(button?.closest("fieldset") as HTMLFieldSetElement);
  });
  // The sphere shows what is edited.
  form.addEventListener("focusin", ({ target }) => {
    const fields = (target as Element).matches("textarea, select, input") && (target as Element).closest("fieldset");
    if (fields) camera.look({ yaw: Number(input(fields, "yaw").value), pitch: Number(input(fields, "pitch").value) });
  });
  const edits = (): string => JSON.stringify([...new FormData(form)]);
  const before = isRefused ? "" : edits();
  const isChanged = (): boolean => form.isConnected && edits() !== before;
  const mayLeave = (): boolean => !isChanged() || confirm(words.wordsLeave);
  const here = location.pathname + location.search;
  const guard = (event: Event): void => {
    if (!leads(event, here) || mayLeave()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.type === "popstate") history.pushState(null, "", here);
  };
  for (const type of ["keydown", "click", "popstate"])
    addEventListener(type, guard, { capture: true, signal: open.signal });
  addEventListener("beforeunload", (event) => isChanged() && event.preventDefault(), { signal: open.signal });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = await postForm(form);
    const page = await answer?.text().catch(() => "");
    const refused = part(page, "hotspot-editor");
    const fresh = part(page, "hotspots");
    if (refused !== undefined) {
      open.abort();
      form.remove();
      show(camera, say, refused as HTMLFormElement, { saved, isRefused: true });
    } else if (isDone(answer) && fresh !== undefined) {
      close();
      element("hotspots").replaceWith(fresh);
      camera.redraw();
      say(words.wordsSaved ?? "");
    } else say(words.wordsFailed ?? "");
  });
  update();
  action(form, "add").focus({ preventScroll: true });
};
