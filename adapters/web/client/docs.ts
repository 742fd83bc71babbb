export {};

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
    // The examples above may become longer or shorter: the reader's one stays where it is.
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
    const { top, bottom } = link.getBoundingClientRect();
    if (contents !== null && (top < 80 || bottom > innerHeight)) contents.scrollTop += top - innerHeight / 3;
  },
  { rootMargin: "-20% 0px -70% 0px" },
);
for (const id of links.keys()) {
  const part = document.getElementById(id);
  if (part !== null) observer.observe(part);
}

document.body.dataset.ready = "docs";
