import { readPage } from "./read-page.js";

/** Appends the next page of the list before the reader reaches its end. Without a script, the reader follows the link. */
export const endlessList = (id: string): void => {
  const observer = new IntersectionObserver(
    (entries) => {
      const link = entries.find(({ isIntersecting }) => isIntersecting)?.target;
      if (link instanceof HTMLAnchorElement) void append(link);
    },
    { rootMargin: "600px" },
  );
  const watch = (): void => {
    const link = document.querySelector('a[rel="next"]:not([data-manual])');
    if (link !== null) observer.observe(link);
  };
  const append = async (link: HTMLAnchorElement): Promise<void> => {
    observer.unobserve(link);
    const response = await fetch(link.href).catch(() => undefined);
    if (!response?.ok || response.redirected) return; // the link stays: the reader can click it
    const page = readPage(await response.text());
    document.getElementById(id)?.append(...(page.getElementById(id)?.children ?? []));
    const next = page.querySelector('a[rel="next"]');
    if (next === null) link.remove();
    else link.replaceWith(next);
    watch();
  };
  watch();
};
