/** Loads the next page before the reader reaches the end of this one. Without JavaScript, the reader follows the link. */
const grid = document.getElementById("gallery");

const observer = new IntersectionObserver(
  (entries) => {
    const link = entries.find(({ isIntersecting }) => isIntersecting)?.target;
    if (grid !== null && link instanceof HTMLAnchorElement) void append(grid, link);
  },
  { rootMargin: "600px" },
);

const watch = (): void => {
  const link = document.querySelector('a[rel="next"]');
  if (link !== null) observer.observe(link);
};

const append = async (grid: HTMLElement, link: HTMLAnchorElement): Promise<void> => {
  observer.unobserve(link);
  const response = await fetch(link.href);
  if (!response.ok) return; // the link stays: the reader can click it
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  grid.append(...(page.getElementById("gallery")?.children ?? []));
  const next = page.querySelector('a[rel="next"]');
  if (next === null) link.remove();
  else link.replaceWith(next);
  watch();
};

watch();
