import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

/*
 * Checks of what a page shows and where its focus is. They run in the page, which has the types of a browser: this is
 * why they are text here.
 */

const CHECKS = `(() => {
  const STOPS = "a[href], button, input, select, textarea, summary, [tabindex]";
  const describe = (element) => element.outerHTML.replace(/\\s+/g, " ").slice(0, 90);
  const isTransparent = (color) => /^rgba\\(.*, 0\\)$/.test(color);
  let stops = [];
  let reached = [];

  /** The elements that Tab should reach, in the order of the page; of a group of radio buttons only one. */
  const findStops = () => {
    const root = document.querySelector("dialog:modal") ?? document;
    const isStop = (element) => element.tabIndex >= 0 && !element.disabled && element.checkVisibility({ visibilityProperty: true });
    const groups = new Map();
    const found = [...root.querySelectorAll(STOPS)].filter(isStop);
    for (const radio of found) {
      if (radio.type !== "radio") continue;
      const group = radio.form?.action + radio.name;
      if (!groups.has(group) || radio.checked) groups.set(group, radio);
    }
    return found.filter((element) => element.type !== "radio" || groups.get(element.form?.action + element.name) === element);
  };

  /** What can show the focus of the element: itself, what lies over it, its visible neighbour, or its form. */
  const ringsOf = (element) =>
    [[element], [element, "::after"], [element.nextElementSibling], [element.closest("form")]].flatMap(([part, pseudo]) => {
      if (!part) return [];
      const { outlineStyle, outlineWidth, outlineColor, outlineOffset } = getComputedStyle(part, pseudo);
      const isVisible = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && !isTransparent(outlineColor);
      const size = pseudo ? 0 : Math.max(0, parseFloat(outlineWidth) + parseFloat(outlineOffset));
      return isVisible ? [{ part, size }] : [];
    });

  /** Whether more than a pixel of the ring is outside of the window or of a part that cuts what is outside of it. */
  const isCut = ({ part, size }) => {
    const { left, right } = part.getBoundingClientRect();
    if (left - size < -1 || right + size > innerWidth + 1) return true;
    for (let around = part.parentElement; around !== null; around = around.parentElement) {
      if (around === document.body || getComputedStyle(around).overflowX === "visible") continue;
      const box = around.getBoundingClientRect();
      const start = box.left + around.clientLeft;
      if (left - size < start - 1 || right + size > start + around.clientWidth + 1) return true;
    }
    return false;
  };

  const isOnTop = (element) => {
    const box = [...element.getClientRects()].find(({ width, height }) => width > 0 && height > 0);
    if (box === undefined) return false;
    const middle = (start, end, limit) => (Math.max(start, 0) + Math.min(end, limit)) / 2;
    const top = document.elementFromPoint(middle(box.left, box.right, innerWidth), middle(box.top, box.bottom, innerHeight));
    return top !== null && (element.contains(top) || [...(element.labels ?? [])].some((label) => label.contains(top)));
  };

  const stop = () => {
    const element = document.activeElement;
    if (element === document.body || element === document.documentElement || element === null) return undefined;
    const rings = ringsOf(element);
    const problems = [];
    if (rings.length === 0) problems.push("has no visible focus");
    else if (rings.every(isCut)) problems.push("has a focus ring that is cut");
    if (!isOnTop(element)) problems.push("is covered");
    return { index: stops.indexOf(element), problems: problems.map((problem) => describe(element) + " " + problem) };
  };
  const note = () => reached.push(stop());

  /** Moves the focus to the start of the page. */
  const start = () => {
    stops = findStops();
    const root = document.documentElement;
    root.tabIndex = -1;
    root.focus();
    root.removeAttribute("tabindex");
  };

  return {
    /** Notes each stop when Tab is about to leave it. The first one is where the focus is now. */
    record() {
      start();
      reached = [];
      addEventListener("keydown", note, true);
      return { expected: stops.map(describe), isInDialog: document.querySelector("dialog:modal") !== null };
    },
    recorded: () => [...reached.splice(0).slice(1), stop()],
    /** What is wrong with the stops if each of them has the focus as if by keyboard. */
    focusEach() {
      start();
      return stops.flatMap((element) => {
        element.focus({ focusVisible: true });
        const found = stop();
        return found !== undefined && stops[found.index] === element
          ? found.problems
          : [describe(element) + " does not take the focus"];
      });
    },
    skip() {
      start();
      document.querySelector(".skip")?.focus();
      return document.querySelector(".skip") !== null;
    },
    isAtFirstInMain: () =>
      stop()?.index === stops.findIndex((element) => !element.matches(".skip") && !element.closest("header.site")),

    lost: () => ({
      /** Buttons and fields whose border is not visible. */
      withoutBorder:
        [...document.querySelectorAll("button, .button, input, textarea, .choice span")]
          .filter((element) => element.checkVisibility() && !element.matches(".link, .menu *, .hero-form input, [type=checkbox], [type=radio], [type=file]"))
          .filter((element) => {
            const { borderTopStyle, borderTopWidth, borderTopColor } = getComputedStyle(element);
            const behind = getComputedStyle(element.parentElement).backgroundColor;
            return borderTopStyle === "none" || borderTopWidth === "0px" || borderTopColor === behind;
          })
          .map(describe),
      /** Text that lies over a picture, without a background of its own. */
      withoutBackground:
        [...document.querySelectorAll(".hero-page .brand, .hero-page header nav, .hero h1, .hero-lead, .hero-form, .hero-examples a, .hero-note, .tile-text, .overlay .caption, .waiting-text, .stage-note, .toast")]
          .filter((element) => element.checkVisibility() && isTransparent(getComputedStyle(element).backgroundColor))
          .map(describe),
      /** Chosen options and current places that look like the others. */
      notMarked: (() => {
        const look = (element) => {
          const { backgroundColor, color, borderBottomColor, outlineStyle, textDecorationLine } = getComputedStyle(element);
          return [backgroundColor, color, borderBottomColor, outlineStyle, textDecorationLine].join();
        };
        const pairs = [
          ["input:checked + span", "input:not(:checked) + span", ".choices"],
          ["a[aria-current]", "a:not([aria-current])", ".places, .contents"],
          ["[aria-selected=true]", "[aria-selected=false]", "[role=tablist]"],
        ];
        return pairs.flatMap(([chosen, other, group]) =>
          [...document.querySelectorAll(group)].filter((part) => {
            const [one, two] = [part.querySelector(chosen), part.querySelector(other)];
            return one && two && part.checkVisibility() && look(one) === look(two);
          }).map(describe));
      })(),
    }),
    /** Animations that move something and take longer than 10 ms. */
    moving: () => [
      ...document.getAnimations()
        .filter(({ effect, playState }) => playState === "running" && effect.getComputedTiming().duration > 10)
        .filter(({ effect }) => effect.getKeyframes().some((frame) =>
          ["transform", "translate", "scale", "rotate", "objectPosition", "left", "top", "width"].some((name) => name in frame)))
        .map(({ effect, animationName, transitionProperty }) => (animationName ?? transitionProperty) + " of " + describe(effect.target)),
      ...(document.getElementById("viewer")?.dataset.moves === "true" ? ["the sphere"] : []),
    ],
  };
})()`;

/** Each call of the page takes processor time in three processes: a check is one call where it can be. */
const call = <T>(page: Page, name: string): Promise<T> =>
  page.evaluate(`(window.pageChecks ??= ${CHECKS}).${name}()`) as Promise<T>;

type Stop = { readonly index: number; readonly problems: readonly string[] };

/**
 * Holds Tab until it has moved so many times. Resolves to each stop, undefined outside of the page. The page itself
 * notes them: to wait for its answer at each of them, and for its image, takes most of the processor time.
 */
const holdTab = async (page: Page, times: number): Promise<readonly (Stop | undefined)[]> => {
  await Promise.all(Array.from({ length: times }, () => page.keyboard.down("Tab")));
  await page.keyboard.up("Tab");
  return call(page, "recorded");
};

/** Presses Tab through the whole page. Returns what is wrong: stops that are skipped, out of order or not visible. */
export const tabThrough = async (page: Page): Promise<readonly string[]> => {
  const { expected, isInDialog } = await call<{ expected: string[]; isInDialog: boolean }>(page, "record");
  const problems: string[] = [];
  const reached: number[] = [];
  for (let presses = 0; presses < 2 * expected.length + 10; ) {
    const times = presses === 0 ? expected.length + 1 : 5;
    presses += times;
    for (const stop of await holdTab(page, times)) {
      // From the end of a dialog, Tab leads to its start.
      if (stop === undefined && isInDialog) continue;
      if (stop === undefined || (reached.length > 1 && stop.index === reached[0])) {
        const missing = expected
          .filter((_, index) => !reached.includes(index))
          .map((element) => `${element} is not reached`);
        const steps = reached.slice(1).filter((index, at) => index < (reached[at] ?? 0)).length;
        return [...problems, ...missing, ...(steps > (isInDialog ? 1 : 0) ? [`the order is ${reached.join()}`] : [])];
      }
      // A field for a date has a stop for each of its parts.
      if (reached.at(-1) === stop.index) continue;
      reached.push(stop.index);
      problems.push(...stop.problems);
    }
  }
  return [...problems, `Tab does not reach the end of the page: ${reached.join()}`];
};

/** What is wrong with the focus of the elements that Tab reaches, in the colours of now. */
export const focusProblems = (page: Page): Promise<readonly string[]> => call(page, "focusEach");

/** Follows the link to the content. Returns whether the focus is there, and goes on with the first stop in it. */
export const skipsToContent = async (page: Page): Promise<boolean> => {
  if (!(await call<boolean>(page, "skip"))) return false;
  await page.keyboard.press("Enter");
  if ((await page.evaluate("document.activeElement.id")) !== "main") return false;
  await page.keyboard.press("Tab");
  return call(page, "isAtFirstInMain");
};

/** What cannot be seen in forced colours. */
export const lostInForcedColours = (page: Page): Promise<Readonly<Record<string, readonly string[]>>> =>
  call(page, "lost");

const axeFile = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
let axe: Promise<string> | undefined;

type Finding = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

/** Findings by the rules of axe: WCAG 2.2 AA, and its best practices such as landmarks and the order of headings. */
export const axeFindings = async (page: Page): Promise<readonly string[]> => {
  axe ??= readFile(axeFile, "utf8");
  if (!(await page.evaluate("'axe' in window"))) {
    // The next pages of this tab have it from their start: to send its half megabyte to each of them takes longer.
    await page.addInitScript(await axe);
    await page.evaluate(await axe);
  }
  // It does not describe the elements that follow its rules: this takes longer than the rules.
  const run = 'axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations)';
  const found = (await page.evaluate(run)) as readonly Finding[];
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
};

/** What moves at this moment. */
export const movingParts = (page: Page): Promise<readonly string[]> => call(page, "moving");
