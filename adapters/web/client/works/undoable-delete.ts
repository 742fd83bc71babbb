import { isDone, postForm, readPage } from "../page.js";

const UNDO_MILLISECONDS = 8_000;

type Deletion = { readonly card: HTMLElement; readonly form: HTMLFormElement; readonly timer: number };

/**
 * Deletes a panorama some seconds after the click, so that the reader can undo it. Leaving the page deletes it at once.
 * Without a script, the page asks before it deletes.
 */
export const undoableDelete = (): void => {
  const toast = document.createElement("div");
  toast.className = "dark raised cluster toast";
  toast.hidden = true;
  const label = document.createElement("span");
  label.setAttribute("role", "status");
  const undo = document.createElement("button");
  undo.className = "button small";
  undo.textContent = "Undo";
  toast.append(label, undo);
  document.body.append(toast);
  document.body.classList.add("undoable");
  let current: Deletion | undefined;

  const end = (): Deletion | undefined => {
    const deletion = current;
    current = undefined;
    toast.hidden = true;
    clearTimeout(deletion?.timer);
    return deletion;
  };
  const commit = async (): Promise<void> => {
    const deletion = end();
    if (deletion === undefined) return;
    const { card, form } = deletion;
    const answer = await postForm(form);
    if (isDone(answer)) return card.remove();
    card.hidden = false;
    const page = answer && readPage(await answer.text());
    const reason = page?.querySelector("[role=alert], .message p")?.textContent ?? "The service doesn’t answer.";
    label.textContent = `Not deleted. ${reason}`;
    undo.hidden = true;
    toast.hidden = false;
  };

  document.addEventListener("click", (event) => {
    const summary = event.target instanceof Element ? event.target.closest("details.delete > summary") : null;
    const card = summary?.closest<HTMLElement>(".work");
    const form = summary?.parentElement?.querySelector("form");
    if (!card || !form) return;
    event.preventDefault();
    void commit();
    card.hidden = true;
    current = { card, form, timer: window.setTimeout(() => void commit(), UNDO_MILLISECONDS) };
    label.textContent = `Deleted “${card.dataset.title ?? ""}”.`;
    undo.hidden = false;
    toast.hidden = false;
    undo.focus();
  });
  undo.addEventListener("click", () => {
    const card = end()?.card;
    if (card === undefined) return;
    card.hidden = false;
    card.querySelector<HTMLElement>("details.delete > summary")?.focus();
  });
  window.addEventListener("pagehide", () => void commit());
};
