import { element } from "../element.js";
import { readPage } from "../read-page.js";

/** What another panorama has of its own: all but the stage and its bar. */
const PARTS = ["flat", "caption", "previous", "next", "film", "more-menu", "downloads", "share-dialog"] as const;
const SLIDE_MILLISECONDS = 10_000;

type Options = {
  /** Called in between: the picture of before is still shown, and the next page has its preview ready. */
  readonly leave: () => void;
  /** Called with the page in place. Resolves when its picture is shown in full. */
  readonly arrive: () => Promise<void>;
  readonly onSlides: (slides: boolean) => void;
};

/** Goes to other panoramas without loading a page: full screen stays, and one canvas fades from one to the other. */
export const travelBetween = (stage: HTMLElement, { leave, arrive, onSlides }: Options) => {
  const pages = new Map<string, Promise<Document>>();
  let path = addressOf(location);
  let trip = 0;
  let slides = false;
  let timer = 0;

  const read = (to: string): Promise<Document> => {
    const known = pages.get(to);
    if (known !== undefined) return known;
    const page = fetch(to).then(async (answer) => {
      if (!answer.ok || answer.redirected) throw new Error(`${to} answered ${answer.status}`);
      return readPage(await answer.text());
    });
    pages.set(to, page);
    page.catch(() => pages.delete(to));
    return page;
  };

  const neighbour = (id: "previous" | "next"): string | undefined =>
    (document.getElementById(id) as HTMLAnchorElement | null)?.pathname;

  /** While the reader looks, the next page and its preview are fetched, unless data is scarce. */
  const prefetch = async (): Promise<void> => {
    const { connection } = navigator as { connection?: { readonly saveData?: boolean } };
    const next = neighbour("next");
    if (next === undefined || connection?.saveData === true) return;
    const page = await read(next).catch(() => undefined);
    const flat = page?.getElementById("flat");
    if (flat) document.importNode(flat, true);
  };

  const scheduleSlide = (): void => {
    clearTimeout(timer);
    if (!slides) return;
    if (neighbour("next") === undefined) showSlides(false);
    else timer = setTimeout(() => void follow("next"), SLIDE_MILLISECONDS);
  };

  const showSlides = (wanted: boolean): void => {
    slides = wanted;
    onSlides(slides);
    scheduleSlide();
  };

  const go = async (to: string, isBack = false): Promise<void> => {
    trip += 1;
    const own = trip;
    clearTimeout(timer);
    try {
      const page = await read(to);
      pages.delete(to); // its forms have a token, and its neighbours may change
      const fresh = page.getElementById("viewer");
      if (fresh === null) throw new Error(`${to} is no viewer`);
      const parts = new Map(PARTS.map((id) => [id, importedPart(page, id)]));
      await (parts.get("flat") as HTMLImageElement).decode().catch(() => {}); // the picture itself may still arrive
      if (own !== trip) return;
      if (!isBack) history.pushState(null, "", to);
      path = to;
      leave();
      for (const name of Object.keys(stage.dataset)) delete stage.dataset[name];
      for (const { name, value } of fresh.attributes) if (name !== "class") stage.setAttribute(name, value);
      replaceParts(parts, stage);
      if (slides) onSlides(true);
      document.title = page.title;
      element("arrived").textContent = page.title;
      await arrive();
      if (own !== trip) return;
      scheduleSlide();
      void prefetch();
    } catch {
      if (own === trip) location.assign(to);
    }
  };

  const follow = async (id: "previous" | "next"): Promise<void> => {
    const to = neighbour(id);
    if (to !== undefined) await go(to);
  };

  element("scene").addEventListener("click", (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>("#previous, #next, #film a");
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (addressOf(link) !== path) void go(addressOf(link));
  });
  addEventListener("popstate", () => {
    if (addressOf(location) !== path) void go(addressOf(location), true);
  });
  return {
    follow: (id: "previous" | "next") => void follow(id),
    prefetch: () => void prefetch(),
    showSlides,
    get slides() {
      return slides;
    },
  };
};

/** With the query: a frame stays one. */
const addressOf = ({ pathname, search }: Location | HTMLAnchorElement): string => pathname + search;

const importedPart = (page: Document, id: string): HTMLElement | undefined => {
  const part = page.getElementById(id);
  return part === null ? undefined : document.importNode(part, true);
};

/** What had the focus has it again: in a part that was replaced, the element with the same id. */
const replaceParts = (parts: ReadonlyMap<string, HTMLElement | undefined>, stage: HTMLElement): void => {
  const { activeElement } = document;
  for (const [id, part] of parts) {
    const old = document.getElementById(id);
    if (old !== null && part !== undefined) old.replaceWith(part);
    else if (part !== undefined) document.querySelector("#scene > .overlay")?.before(part);
    else old?.remove();
  }
  if (document.activeElement === document.body && activeElement !== document.body)
    (document.getElementById(activeElement?.id ?? "") ?? stage).focus({ preventScroll: true });
  if (element("scene").dataset.film === "open") parts.get("film")?.showPopover();
};
