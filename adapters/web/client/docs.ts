/** The language of the examples that the reader chose last. Storage may be forbidden or full; then none. */
const STORED = "docs-language";
const withStorage = <Result>(use: (storage: Storage) => Result): Result | undefined => {
  try {
    return use(localStorage);
  } catch {
    return undefined;
  }
};

const tabs = [...document.querySelectorAll<HTMLInputElement>(".tab input")];
const choose = (language: string | null): void => {
  for (const tab of tabs) if (tab.value === language) tab.checked = true;
};
choose(withStorage((storage) => storage.getItem(STORED)) ?? null);

for (const tab of tabs) {
  tab.addEventListener("change", () => {
    // The examples above may change their height: the reader's one stays where it is.
    const before = tab.getBoundingClientRect().top;
    choose(tab.value);
    scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: "instant" });
    withStorage((storage) => storage.setItem(STORED, tab.value));
  });
}

for (const block of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  const pre = block.querySelector("pre");
  button.type = "button";
  button.className = "copy button quiet small";
  button.textContent = "Copy";
  button.ariaLabel = `Copy: ${pre?.ariaLabel}`;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre?.textContent ?? "");
      button.textContent = "Copied";
    } catch {
      // Without permission, or on plain http: the text is selected for the keyboard.
      if (pre !== null) getSelection()?.selectAllChildren(pre);
      button.textContent = "Selected";
    }
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2_000);
  });
  block.append(button);
}

/** A filter above the contents leaves the entries with the typed text. */
for (const list of document.querySelectorAll("nav.contents, .contents nav")) {
  const filter = document.createElement("input");
  Object.assign(filter, { type: "search", placeholder: "Filter", ariaLabel: "Filter the contents" });
  filter.addEventListener("input", () => {
    const text = filter.value.trim().toLowerCase();
    for (const entry of list.querySelectorAll("li")) entry.hidden = !entry.textContent.toLowerCase().includes(text);
  });
  list.prepend(filter);
}

/** Marks the part that the reader sees in the contents, and keeps its link in view. */
const contents = document.querySelector("nav.contents");
const observer = new IntersectionObserver(
  (entries) => {
    const seen = entries.find(({ isIntersecting }) => isIntersecting)?.target.id;
    const link = contents?.querySelector(`[href="#${seen}"]`);
    if (!contents || !link) return;
    contents.querySelector("[aria-current]")?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    if (contents.querySelector(":focus-visible") !== null) return; // its reader is there
    const { top, bottom } = link.getBoundingClientRect();
    if (top < 80 || bottom > innerHeight) contents.scrollTop += top - innerHeight / 3;
  },
  { rootMargin: "-20% 0px -70% 0px" },
);
for (const part of document.querySelectorAll(".guide, .group > h2, .operation")) observer.observe(part);

document.body.dataset.ready = "docs";
