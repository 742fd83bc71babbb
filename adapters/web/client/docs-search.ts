const RESULTS_MAX = 12;
const LINE_CHARACTERS_MAX = 110;
/** Characters of a line before the first word that was found. */
const BEFORE_CHARACTERS = 30;

/** A part of the page that has an address, and the lines in it. */
type Part = { readonly id: string; readonly title: string; readonly lines: string[] };

const textOf = (element: Element | null): string => (element?.textContent ?? "").replace(/\s+/g, " ").trim();

const readParts = (): readonly Part[] => {
  const parts: Part[] = [];
  for (const element of document.querySelectorAll(".content :is(section[id], h3[id], p, li, td, dt, dd)")) {
    const { id } = element;
    if (id === "") parts.at(-1)?.lines.push(textOf(element));
    else parts.push({ id, title: textOf(element.querySelector("h2, h3") ?? element), lines: [] });
  }
  return parts;
};

/** A line with the words, or one of them; nothing if the title has all of them. `undefined`: one is not there. */
const lineIn = ({ title, lines }: Part, words: readonly string[]): string | undefined => {
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  if (has(title)) return "";
  if (!has([title, ...lines].join(" "))) return undefined;
  const [first = ""] = words;
  const hasOne = (text: string) => words.some((word) => text.toLowerCase().includes(word));
  const line = lines.find(has) ?? lines.find(hasOne) ?? "";
  const from = Math.max(0, line.toLowerCase().indexOf(first) - BEFORE_CHARACTERS);
  const cut = line.slice(from, from + LINE_CHARACTERS_MAX);
  return `${from > 0 ? "…" : ""}${cut}${from + cut.length < line.length ? "…" : ""}`;
};

/** A field that finds the parts of the page with all typed words: those with the words in the title come first. */
export const offerSearch = (place: Element): void => {
  const form = document.createElement("form");
  const label = document.createElement("label");
  const field = document.createElement("input");
  const told = document.createElement("p");
  const list = document.createElement("ul");
  form.role = "search";
  field.type = "search";
  field.autocomplete = "off";
  told.role = "status";
  label.append("Search this page ", field);
  form.append(label, told, list);
  let parts: readonly Part[] | undefined;

  const find = (): void => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    parts ??= readParts();
    const found = words.length === 0 ? [] : parts.map((part) => ({ part, line: lineIn(part, words) }));
    const results = [...found.filter(({ line }) => line === ""), ...found.filter(({ line }) => line)];
    list.replaceChildren(
      ...results.slice(0, RESULTS_MAX).map(({ part, line }) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = `#${part.id}`;
        link.textContent = part.title;
        item.append(link, line ? ` ${line}` : "");
        return item;
      }),
    );
    const count = results.length === 1 ? "1 part" : `${results.length} parts`;
    told.textContent =
      words.length === 0 ? "" : `${count}${results.length > RESULTS_MAX ? `, the first ${RESULTS_MAX}` : ""}`;
  };

  field.addEventListener("input", find);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.matches("input, select, textarea");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
  });
  place.before(form);
};
