import { element } from "../page.js";
import { save } from "../viewer/downloads.js";
import { zip } from "../viewer/zip.js";

/** The bar with the actions on the selected panoramas, which appears with the first of them. */
export const selection = (): void => {
  const form = document.getElementById("selection");
  if (!(form instanceof HTMLFormElement)) return;
  const label = element("selected");
  const download = element("download-selected") as HTMLButtonElement;

  const chosen = (): HTMLElement[] =>
    [...document.querySelectorAll<HTMLInputElement>("#list input[name=id]")].flatMap(
      (box) => (box.checked && box.closest<HTMLElement>("li:not([hidden])")) || [],
    );
  const show = (): void => {
    const all = chosen();
    form.hidden = all.length === 0;
    label.textContent = `${all.length} selected`;
    download.hidden = !all.some(({ dataset }) => dataset.picture);
  };
  document.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLInputElement && target.form === form) show();
  });
  form.addEventListener("reset", () => setTimeout(show));
  download.addEventListener("click", async () => {
    download.disabled = true;
    const files = new Map<string, Blob>();
    try {
      for (const { dataset } of chosen()) {
        if (!dataset.picture || !dataset.file) continue;
        label.textContent = `Loading picture ${files.size + 1} …`;
        const answer = await fetch(dataset.picture);
        if (!answer.ok) throw new Error(`status ${answer.status}`);
        files.set(dataset.file, await answer.blob());
      }
      const [[name, only] = ["", undefined]] = files;
      save(files.size === 1 && only ? only : await zip(files), files.size === 1 ? name : "panoramas.zip");
      show();
    } catch {
      label.textContent = "The pictures could not be loaded. Try again.";
    }
    download.disabled = false;
  });
  show();
};
