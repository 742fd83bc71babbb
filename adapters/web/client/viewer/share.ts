import { element } from "../element.js";
import { isDone, postForm } from "../post-form.js";
import type { View } from "./sphere.js";
import { fragmentOf } from "./view-in-url.js";

/** The dialog with the link, its view, and the code of a frame. It can make a private panorama public. */
export function connectShare(view: () => View | undefined): void {
  const button = document.getElementById("share");
  if (button === null) return;
  const dialog = element("share-dialog") as HTMLDialogElement;
  button.addEventListener("click", () => dialog.showModal());
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close(); // the backdrop
  });
  const publish = document.getElementById("publish");
  if (publish !== null) connectPublish(publish as HTMLFormElement);
  const link = document.getElementById("share-link");
  if (link === null) return;
  const update = connectFields(link as HTMLInputElement, view);
  button.addEventListener("click", update);
  for (const copy of dialog.querySelectorAll<HTMLElement>("[data-copy]"))
    copy.addEventListener("click", () => void copyText(element(copy.dataset.copy ?? "") as HTMLInputElement));
}

/** Returns a function that fills the fields with the current view. */
const connectFields = (link: HTMLInputElement, view: () => View | undefined): (() => void) => {
  const address = link.value;
  const frame = element("share-frame") as HTMLTextAreaElement;
  const atView = element("share-view") as HTMLInputElement;
  const update = (): void => {
    const shown = atView.checked ? view() : undefined;
    const fragment = shown === undefined ? "" : fragmentOf(shown);
    link.value = address + fragment;
    frame.value = frameCode(`${address}?embed=1${fragment}`, frame.dataset.title ?? "");
    element("copied").textContent = "";
  };
  atView.addEventListener("change", update);
  const system = element("share-system");
  system.hidden = navigator.share === undefined;
  system.addEventListener("click", () => {
    // Rejects if the reader closes the list of ways to share.
    void navigator.share({ url: link.value, title: document.title }).catch(() => {});
  });
  return update;
};

const frameCode = (url: string, title: string): string => {
  const frame = document.createElement("iframe");
  frame.width = "960";
  frame.height = "540";
  frame.title = title;
  frame.allow = "fullscreen; gyroscope; accelerometer; xr-spatial-tracking";
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
const connectPublish = (form: HTMLFormElement): void => {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = await postForm(form);
    if (isDone(answer)) location.assign(`${form.dataset.public}#share`);
    else if (answer?.ok) location.reload();
    else element("copied").textContent = "This did not work. Reload the page and try again.";
  });
};
