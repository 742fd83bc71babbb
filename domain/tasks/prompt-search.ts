import { firstCharacters } from "../text.js";

/** Maximum length of a search, before and after it is normalized. The rest is ignored. */
export const SEARCH_CHARACTERS_MAX = 100;

/** Maximum length of the searchable part of a prompt, before and after it is normalized: the longest prompt. */
export const SEARCHED_CHARACTERS_MAX = 4000;

/** Maximum words of a search. Each costs an index a list of prompts. */
const SEARCH_WORDS_MAX = 12;

/**
 * Ignored characters: accents, vowel points and the like, but not the vowels of scripts such as Devanagari; and
 * invisible characters.
 */
const IGNORED = /(?=\p{M})[\p{Diacritic}\p{Script=Inherited}]|\p{Default_Ignorable_Code_Point}/gu;

/** A character between words. Symbols such as emoji count as words. */
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}\p{So}]/u;

/** Begins with a script without spaces between words: a word may begin at each character. */
const WITHOUT_SPACES =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{So}]/u;

/** Words of these scripts are compared in pieces of this many characters. */
const PIECE_CHARACTERS = 4;

/**
 * The first `max` characters in Unicode's form NFKD, which turns one character into up to 18. The time depends only on
 * `max`.
 */
const decomposed = (text: string, max: number): string =>
  firstCharacters(firstCharacters(text, max).normalize("NFKD"), max);

/**
 * Normalizes a text for the search: without case, diacritics and variants of letters, with one space between words, at
 * most `max` characters. A normalized text stays as it is.
 */
export const normalizedText = (text: string, max: number): string => {
  const words = decomposed(text, max)
    .replace(IGNORED, "")
    // Both, because some letters have several small or several capital forms.
    .toLowerCase()
    .toUpperCase()
    .split(BETWEEN_WORDS)
    .filter((word) => word !== "");
  return firstCharacters(words.join(" "), max).trimEnd();
};

const wordsOf = (text: string, max: number): readonly string[] => {
  const normalized = normalizedText(text, max);
  return normalized === "" ? [] : normalized.split(" ");
};

/** The pieces of a word that begin at each of its characters; those at its end are shorter. */
const piecesOf = (word: string): readonly string[] =>
  [...word].map((_, at, characters) => characters.slice(at, at + PIECE_CHARACTERS).join(""));

/** The fewest pieces with all characters of a word. */
const coverOf = (word: string): readonly string[] => {
  const pieces = piecesOf(word);
  const last = Math.max(0, pieces.length - PIECE_CHARACTERS);
  return pieces.filter((_, at) => at <= last && (at % PIECE_CHARACTERS === 0 || at === last));
};

/**
 * The terms of a search: each must be a prefix of one of the `indexedWords` of a prompt. Empty for a text of spaces and
 * punctuation.
 */
export const searchWords = (search: string): readonly string[] => {
  const wanted = wordsOf(search, SEARCH_CHARACTERS_MAX).flatMap((word) =>
    WITHOUT_SPACES.test(word) ? coverOf(word).filter((piece) => WITHOUT_SPACES.test(piece)) : [word],
  );
  const distinct = [...new Set(wanted)];
  // A prefix of another word of the search is found with that word.
  return distinct
    .filter((word) => !distinct.some((other) => other !== word && other.startsWith(word)))
    .slice(0, SEARCH_WORDS_MAX);
};

/**
 * The index terms of a prompt, each once: its words, and the pieces of words without spaces between them. Together they
 * have at most five times the maximum length of a prompt.
 */
export const indexedWords = (prompt: string): readonly string[] => {
  const words = new Set<string>();
  for (const word of wordsOf(prompt, SEARCHED_CHARACTERS_MAX)) {
    if (!WITHOUT_SPACES.test(word)) words.add(firstCharacters(word, SEARCH_CHARACTERS_MAX));
    for (const piece of piecesOf(word)) {
      if (WITHOUT_SPACES.test(piece)) words.add(piece);
    }
  }
  return [...words];
};

/** True if a search finds the prompt. */
export const isFoundBy = (words: readonly string[], prompt: string): boolean => {
  const indexed = indexedWords(prompt);
  return words.every((word) => indexed.some((one) => one.startsWith(word)));
};
