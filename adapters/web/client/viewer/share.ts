import { element, isDone, postForm } from "../page.js";
import { fragmentOf, type View } from "./view.js";

/** The dialog with the link, its view, and the code of a frame. It can make a private panorama public. */
export function connectShare(view: () => View | undefined): void {
  const button = document.getElementById("share");
  if (button === null) return;
  button.addEventListener("click", () => {
    update(view());
    (element("share-dialog") as HTMLDialogElement).showModal();
  });
  const scene = element("scene");
  scene.addEventListener("click", ({ target }) => {
    const { id, dataset } = target as HTMLElement;
    if (id === "share-dialog") (target as HTMLDialogElement).close(); // the backdrop
    if (id === "share-system") {
      // Rejects if the reader closes the list of ways to share.
      void navigator.share({ url: fieldOf("share-link")?.value ?? "", title: document.title }).catch(() => {});
    }
    if (dataset.copy !== undefined) void copyText(element(dataset.copy) as HTMLInputElement);
  });
  scene.addEventListener("change", ({ target }) => {
    if ((target as HTMLElement).id === "share-view") update(view());
  });
  scene.addEventListener("submit", (event) => {
    if ((event.target as HTMLElement).id === "publish") void publish(event);
  });
}

const fieldOf = (id: string): HTMLInputElement | null => document.getElementById(id) as HTMLInputElement | null;

/** Fills the fields with the current view. */
const update = (view: View | undefined): void => {
  const link = fieldOf("share-link");
  const frame = fieldOf("share-frame");
  if (link === null || frame === null) return;
  const fragment = fieldOf("share-view")?.checked && view !== undefined ? fragmentOf(view) : "";
  link.value = link.defaultValue + fragment;
  frame.value = frameCode(`${link.defaultValue}?embed=1${fragment}`, frame.dataset.title ?? "");
  element("share-system").hidden = navigator.share === undefined;
  element("copied").textContent = "";
};

const frameCode = (url: string, title: string): string => {
  const frame = document.createElement("iframe");
  frame.title = title;
  frame.loading = "lazy";
  frame.allow = "fullscreen; gyroscope; accelerometer; xr-spatial-tracking";
  frame.style.cssText = "display: block; width: 100%; aspect-ratio: 16 / 9; border: 0";
  frame.src = url; // nothing is loaded: the element is never in a page
  return frame.outerHTML;
};

/** On plain http there is no clipboard for scripts: then the text is selected, and the reader copies it. */
const copyText = async (field: HTMLInputElement): Promise<void> => {
  field.focus();
  field.select();
  const copied = await navigator.clipboard?.writeText(field.value).then(
    () => true,
    () => false,
  );
  const isCopied = copied ?? document.execCommand("copy");
  element("copied").textContent = isCopied ? "Copied." : "Press Ctrl+C (⌘C on a Mac) to copy.";
};

/** Sends the page's form in the background and opens the public viewer. After a logout, the page asks for a login. */
const publish = async (event: Event): Promise<void> => {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  const answer = await postForm(form);
  if (isDone(answer)) location.assign(`${form.dataset.public}#share`);
  else if (answer?.ok) location.reload();
  else element("copied").textContent = "This did not work. Reload the page and try again.";
};
