/** Submits the filter form when a select changes. Empty fields are left out of the URL. */
const filters = (): void => {
  const form = document.getElementById("filters");
  if (!(form instanceof HTMLFormElement)) return;
  form.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLSelectElement) form.requestSubmit();
  });
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
};

/** The menu of a tile closes with a click elsewhere, and with Escape. */
const menus = (): void => {
  const opened = () => document.querySelectorAll<HTMLDetailsElement>("details.actions[open]");
  document.addEventListener("click", ({ target }) => {
    // A menu with the focus stays open: undoing a deletion puts the focus back into it.
    for (const menu of opened())
      if (![target, document.activeElement].some((one) => one instanceof Node && menu.contains(one))) menu.open = false;
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    for (const menu of opened()) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  });
};

export const worksHead = (): void => {
  filters();
  menus();
};
