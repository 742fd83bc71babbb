/** The language of the examples that the reader chose last. */
const STORED = "docs-language";

/** Storage may be forbidden or full; then the choice is not remembered. */
const remember = (language: string): void => {
  try {
    localStorage.setItem(STORED, language);
  } catch {}
};
const remembered = (): string | null => {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
};

const tabs = [...document.querySelectorAll<HTMLInputElement>(".tab input")];

const choose = (language: string): void => {
  for (const tab of tabs) if (tab.value === language) tab.checked = true;
};

for (const tab of tabs) {
  tab.addEventListener("change", () => {
    // The examples above may change their height: the reader's one stays where it is.
    const before = tab.getBoundingClientRect().top;
    choose(tab.value);
    scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: "instant" });
    remember(tab.value);
  });
}
const language = remembered();
if (language !== null) choose(language);

for (const block of document.querySelectorAll<HTMLElement>(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  const name = block.querySelector("pre")?.getAttribute("aria-label");
  button.setAttribute("aria-label", `Copy: ${name}`);
  button.addEventListener("click", async () => {
    const code = block.querySelector("code");
    try {
      await navigator.clipboard.writeText(code?.textContent ?? "");
      button.textContent = "Copied";
    } catch {
      // Without permission, or on plain http: the text is selected for the keyboard.
      if (code !== null) getSelection()?.selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2_000);
  });
  block.append(button);
}

/** A field for a key, which the examples then have instead of the variable. The key stays in the page. */
const offerKey = (note: Element): void => {
  const variables = [...document.querySelectorAll(".key")].map((place) => ({
    place,
    content: [...place.childNodes],
    isExpression: /^process\.|\)$/.test(place.textContent ?? ""),
  }));
  const label = document.createElement("label");
  const field = document.createElement("input");
  field.autocomplete = "off";
  field.spellcheck = false;
  field.placeholder = "sk-…";
  field.addEventListener("input", () => {
    const key = field.value.trim();
    const isKey = /^sk-[\w-]+$/.test(key);
    for (const { place, content, isExpression } of variables) {
      place.replaceChildren(...(isKey ? [isExpression ? `"${key}"` : key] : content));
    }
  });
  label.append("Paste a key to have it in the examples. It stays in this page. ", field);
  note.append(label);
};
const note = document.querySelector(".keys");
if (note !== null) offerKey(note);

// On phones the contents cover the text: they close when a link is followed.
const menu = document.querySelector<HTMLDetailsElement>("details.contents");
menu?.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest("a") !== null) menu.open = false;
});

/** Marks the part that the reader sees in the contents. */
const links = new Map(
  [...document.querySelectorAll<HTMLAnchorElement>("nav.contents a")].map((link) => [link.hash.slice(1), link]),
);
let current: HTMLAnchorElement | undefined;
const observer = new IntersectionObserver(
  (entries) => {
    const seen = entries.find(({ isIntersecting }) => isIntersecting);
    const link = seen && links.get(seen.target.id);
    if (link === undefined) return;
    current?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    current = link;
    const contents = link.closest("nav");
    if (contents === null || contents.querySelector(":focus-visible") !== null) return; // its reader is there
    const { top, bottom } = link.getBoundingClientRect();
    if (top < 80 || bottom > innerHeight) contents.scrollTop += top - innerHeight / 3;
  },
  { rootMargin: "-20% 0px -70% 0px" },
);
for (const id of links.keys()) {
  const part = document.getElementById(id);
  if (part !== null) observer.observe(part);
}

document.body.dataset.ready = "docs";
