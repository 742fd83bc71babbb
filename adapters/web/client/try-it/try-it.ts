import { callOf, readDescription } from "./description.js";
import { make } from "./make.js";
import { makePanel, type Shared } from "./panel.js";

const keyField = document.querySelector<HTMLInputElement>(".keys input") ?? make("input");
const shared: Shared = { keyField, lastId: "" };

/** The panel of an operation, made at its first use. */
const panelIn = async (section: HTMLElement): Promise<HTMLElement> => {
  const description = await readDescription();
  const present = section.querySelector<HTMLElement>("form.try");
  if (present !== null) return present;
  const panel = makePanel(callOf(description, section.id), shared);
  panel.hidden = true;
  section.querySelector(".route")?.after(panel);
  return panel;
};

/** The button of an operation was pressed (docs.ts): opens its panel, or closes it. */
document.addEventListener("try-it", async ({ target: button }) => {
  const section = button instanceof HTMLElement ? button.closest("section") : null;
  if (section === null || !(button instanceof HTMLElement)) return;
  section.querySelector("p.try")?.remove();
  try {
    const panel = await panelIn(section);
    panel.hidden = !panel.hidden;
    button.ariaExpanded = String(!panel.hidden);
  } catch {
    const sentence = make(
      "p",
      { className: "error try", role: "alert" },
      "It could not be loaded. Press the button again.",
    );
    section.querySelector(".route")?.after(sentence);
  }
});
