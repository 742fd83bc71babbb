/**
 * The reader's choice between a light and a dark page, kept in this browser. It stands in the head of the pages, so
 * that the first paint has the chosen colours (adapters/web/layout.ts).
 */
const { documentElement: root } = document;

const kept = (): string | null => {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null; // The browser keeps nothing for this site.
  }
};

root.dataset.theme = kept() ?? "system";
document.addEventListener("DOMContentLoaded", () => {
  const select = document.querySelector<HTMLSelectElement>("#theme");
  if (select === null) return;
  select.value = root.dataset.theme ?? "system";
  select.addEventListener("change", () => {
    root.dataset.theme = select.value;
    try {
      localStorage.setItem("theme", select.value);
    } catch {
      // It counts for this page only.
    }
  });
});
