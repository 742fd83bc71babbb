import { err, ok, type Result } from "neverthrow";
import type { Moderation, ModerationAnswer } from "../../application/ports/moderation.js";
import { keyedHash } from "./keyed-hash.js";

/** A word, or several that follow each other, as `wordsOf` writes them. */
type Entry = { readonly words: string; readonly answer: Exclude<ModerationAnswer, "allow"> };

/**
 * Reads a list: on each line `block` or `review`, white space, and a word or several. Empty lines, and those that begin
 * with `#`, do not count. The error is a sentence with the number of the line.
 */
export const parseWordList = (text: string): Result<readonly Entry[], string> => {
  const entries: Entry[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const [, answer, rest = ""] = /^(block|review)\s+(.+)$/u.exec(trimmed) ?? [];
    const words = wordsOf(rest);
    if ((answer !== "block" && answer !== "review") || words === "  ") {
      return err(`line ${index + 1} must be block or review, and a word`);
    }
    entries.push({ words, answer });
  }
  return ok(entries);
};

/** Finds whole words of prompts. Images are allowed: a list cannot judge them. */
export const wordListModeration = (entries: readonly Entry[]): Moderation => {
  const answerTo = (text: string): ModerationAnswer => {
    const words = wordsOf(text);
    const found = entries.filter((entry) => words.includes(entry.words));
    if (found.some(({ answer }) => answer === "block")) return "block";
    return found.length > 0 ? "review" : "allow";
  };
  return {
    hashOf: keyedHash(),
    judge: async (part) => ok(part.kind === "text" ? answerTo(part.text) : "allow"),
  };
};

/**
 * The words with a space around each: in compatibility form (full-width letters are letters), without case, and without
 * invisible characters, which would split a word.
 */
const wordsOf = (text: string): string => {
  const plain = text.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  // Upper case first: ß and SS, and the two small letters sigma, are the same then.
  const folded = plain.toUpperCase().toLowerCase().replace(/ς/g, "σ").normalize("NFKC");
  return ` ${folded.match(/[\p{L}\p{N}\p{M}]+/gu)?.join(" ") ?? ""} `;
};
