import { element } from "./element.js";

const POLL_MILLISECONDS = 2_000;

/** Polls and updates the cards of unfinished panoramas until none is left. */
const update = async (): Promise<void> => {
  const pending = [...document.querySelectorAll<HTMLElement>("#works [data-pending]")];
  if (pending.length === 0) return;
  const response = await fetch(location.href).catch(() => undefined);
  if (response?.ok && response.url === location.href) {
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const card of pending) {
      const fresh = page.getElementById(card.id);
      if (fresh !== null && fresh.outerHTML !== card.outerHTML) card.replaceWith(fresh);
    }
  }
  setTimeout(() => void update(), POLL_MILLISECONDS);
};
setTimeout(() => void update(), POLL_MILLISECONDS);

const drop = document.getElementById("drop");
if (drop !== null) {
  const input = element("files") as HTMLInputElement;
  const chosen = element("chosen");
  const showNames = (): void => {
    chosen.textContent = [...(input.files ?? [])].map(({ name }) => name).join(", ");
  };
  input.addEventListener("change", showNames);
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer === null) return;
    input.files = event.dataTransfer.files;
    showNames();
  });
}
