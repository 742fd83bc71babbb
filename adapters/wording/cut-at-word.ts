import { shortened } from "../../domain/text.js";

/** How much of the text is kept at least, so that it ends with a word. Not every script has spaces. */
const KEPT = 1 / 2;

/** As `shortened`, but ends behind a whole word if there is one in its second half, and never with a comma or dash. */
export const cutAtWord = (text: string, charactersMax: number): string => {
  const cut = shortened(text, charactersMax);
  if (cut === text) return text;
  const start = cut.slice(0, -1);
  const isWhole = /^\s/u.test(text.slice(start.length));
  const space = isWhole ? start.length : start.search(/\s\S*$/u);
  const kept = space < start.length * KEPT ? start : start.slice(0, space);
  return `${kept.replace(/[\s,;:–—-]+$/u, "")}…`;
};
