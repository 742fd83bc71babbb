import { readPage } from "./page.js";

const MARGIN_PIXELS = 800;

/**
 * Appends the next page of the list before the reader reaches its end. The history keeps the position, so that readers
 * who come back to the list are where they left it. Without a script, the reader follows the link.
 */
export const endlessList = async (id: string): Promise<void> => {
  const append = async (): Promise<boolean> => {
    const link = document.querySelector<HTMLAnchorElement>('a[rel="next"]');
    const list = document.getElementById(id);
    const response = list && link && (await fetch(link.href).catch(() => undefined));
    if (!response?.ok || response.redirected) return false; // the link stays: the reader can click it
    const page = readPage(await response.text());
    const items = page.querySelectorAll(`#${id} > *`);
    list?.append(...items);
    link?.replaceWith(page.querySelector('a[rel="next"]') ?? "");
    return items.length > 0; // a search that has found nothing so far goes on when the reader wants it
  };
  let isBusy = false;
  const fillTo = async (top: number): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    // After a failure, it never tries again.
    while (document.body.scrollHeight < top + innerHeight + MARGIN_PIXELS) if (!(await append())) return;
    isBusy = false;
  };
  const top = Number(history.state);
  await fillTo(top);
  if (top > 0) scrollTo(0, top);
  addEventListener("scroll", () => void fillTo(scrollY));
  addEventListener("scrollend", () => history.replaceState(scrollY, ""));
};
