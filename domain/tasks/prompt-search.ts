/** Maximum length of a search, before and after it is normalized. The rest is ignored. */
export const SEARCH_CHARACTERS_MAX = 100;

/**
 * Maximum length of the searchable part of a prompt, before and after it is normalized: the longest prompt. Earlier
 * versions stored longer ones.
 */
export const SEARCHED_CHARACTERS_MAX = 4000;

/** Maximum words of a search. Each costs an index a list of prompts. */
const SEARCH_WORDS_MAX = 12;

/**
 * Ignored characters: accents, vowel points and the like, but not the vowels of scripts such as Devanagari; and
 * invisible characters.
 */
const IGNORED = /(?=\p{M})[\p{Diacritic}\p{Script=Inherited}]|\p{Default_Ignorable_Code_Point}/gu;

/** Characters between words. Symbols such as emoji count as words. */
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}\p{So}]+/u;

/** Scripts without spaces between words: a word may begin at each character. */
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{So}]/u;

/** Words of these scripts are compared in pieces of this many characters. */
const PIECE_CHARACTERS = 4;

/** Characters that are normalized together. */
const SLICE_CHARACTERS = 64;

/** The first `max` characters. A character is a code point, never half of one. */
const firstCharacters = (text: string, max: number): string =>
  text.length <= max
    ? text
    : [...text.slice(0, 2 * max)] // a code point has at most two UTF-16 units
        .slice(0, max)
        .join("");

/**
 * The first `max` characters in Unicode's form NFKD, which turns one character into up to 18. The text is processed in
 * slices, so that the time depends only on `max`.
 */
const decomposed = (text: string, max: number): string => {
  const characters = [...firstCharacters(text, max)];
  let form = "";
  for (let at = 0; at < characters.length && form.length < 2 * max; at += SLICE_CHARACTERS) {
    form += characters
      .slice(at, at + SLICE_CHARACTERS)
      .join("")
      .normalize("NFKD");
  }
  // Again, because marks on both sides of a cut may have to change places.
  return firstCharacters(form, max).normalize("NFKD");
};

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

/** `step`: distance between the beginnings of pieces inside a word. */
const piecesOf = (characters: readonly string[], step: number): readonly string[] => {
  const last = Math.max(0, characters.length - PIECE_CHARACTERS);
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += step) {
    const begin = step > 1 ? Math.min(at, last) : at;
    if (WITHOUT_SPACES.test(characters[begin] ?? "")) {
      pieces.push(characters.slice(begin, begin + PIECE_CHARACTERS).join(""));
    }
  }
  return pieces;
};

/**
 * The terms of a search: each must be a prefix of one of the `indexedWords` of a prompt. Empty for a text of spaces and
 * punctuation.
 */
export const searchWords = (search: string): readonly string[] => {
  const wanted = wordsOf(search, SEARCH_CHARACTERS_MAX).flatMap((word) => {
    const characters = [...word];
    return WITHOUT_SPACES.test(characters[0] ?? "") ? piecesOf(characters, PIECE_CHARACTERS) : [word];
  });
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
    const characters = [...word];
    if (!WITHOUT_SPACES.test(characters[0] ?? "")) words.add(firstCharacters(word, SEARCH_CHARACTERS_MAX));
    for (const piece of piecesOf(characters, 1)) words.add(piece);
  }
  return [...words];
};

/** True if a search finds the prompt. */
export const isFoundBy = (words: readonly string[], prompt: string): boolean => {
  const indexed = indexedWords(prompt);
  return words.every((word) => indexed.some((one) => one.startsWith(word)));
};
