import { placeOf, type Task } from "../../../domain/tasks/task.js";
import { cutAtWord } from "../../wording/shown.js";
import { type Html, html } from "../html.js";

/** Reads a prompt as the local painter does: words that it draws, leaves out, or does not know. */
export type ReadWords = (prompt: string) => Readonly<Record<"drawn" | "leftOut" | "unknown", readonly string[]>>;

const WORDS_MAX = 6;
const WORD_CHARACTERS_MAX = 24;

/** The behaviour of the demo painter in one sentence, for its pictures. `undefined`: others made it, or from images. */
export function demoNote(task: Task, readWords: ReadWords | undefined): Html | undefined {
  const { prompt } = task.request;
  if (placeOf(task) !== "local" || prompt === undefined || readWords === undefined) return undefined;
  if (/\btest:plain\b/i.test(prompt)) return undefined; // that picture has two colours
  const { drawn, leftOut, unknown } = readWords(prompt);
  const used = drawn.length > 0 ? html`drew ${listOf(drawn)}` : html`drew a landscape of its own`;
  return html`Demo painter: ${used}${leftOut.length > 0 && html`; left out ${listOf(leftOut)}`}${
    unknown.length > 0 && html`; it does not know ${listOf(unknown)}`
  }.`;
}

function listOf(words: readonly string[]): Html {
  const shown = words
    .slice(0, WORDS_MAX)
    .map((word) => html`<em dir="auto">${cutAtWord(word, WORD_CHARACTERS_MAX)}</em>`);
  const more = words.length - shown.length;
  return html`${shown.map((word, index) => html`${index > 0 && ", "}${word}`)}${more > 0 && html` and ${more} more`}`;
}

/** Where to read about other painters. */
export const PROVIDERS_LINK = html`<a href="/providers">Other generators</a>`;
