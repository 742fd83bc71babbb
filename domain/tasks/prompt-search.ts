/** The characters of a search that count, before and after it is normalized. The rest is ignored. */
export const SEARCH_CHARACTERS_MAX = 100;

/**
 * The characters of a prompt that a search finds, before and after it is normalized: all that a creation may have.
 * Earlier versions stored longer prompts.
 */
export const SEARCHED_CHARACTERS_MAX = 4000;

/** The words of a search that count. Each costs an index a list of prompts. */
const SEARCH_WORDS_MAX = 12;

/** Accents, vowel points and the like, but not the vowels of scripts such as Devanagari; and invisible characters. */
const IGNORED = /(?=\p{M})[\p{Diacritic}\p{Script=Inherited}]|\p{Default_Ignorable_Code_Point}/gu;

/** Symbols such as emoji count as words. */
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}\p{So}]+/u;

/** Between words of these scripts there is no space, so a word may begin at each character. */
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{So}]/u;

/** Words of these scripts are compared in pieces of this many characters. */
const PIECE_CHARACTERS = 4;

/** Characters that are normalized together. */
const SLICE_CHARACTERS = 64;

/** The first characters. A character is a code point, never half of one. */
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
 * A text as it is searched: without case, diacritics and variants of letters, with one space between words, and at most
 * `max` characters. Takes any text; a normalized one stays as it is.
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

/** `step`: how far apart pieces begin that are inside the word. */
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
 * What a search compares: each must be the beginning of one of the `indexedWords` of a prompt. Empty for a text of
 * spaces and punctuation. Takes any text.
 */
export const searchWords = (search: string): readonly string[] => {
  const wanted = wordsOf(search, SEARCH_CHARACTERS_MAX).flatMap((word) => {
    const characters = [...word];
    return WITHOUT_SPACES.test(characters[0] ?? "") ? piecesOf(characters, PIECE_CHARACTERS) : [word];
  });
  const distinct = [...new Set(wanted)];
  // The beginning of another word of the search is found with it.
  return distinct
    .filter((word) => !distinct.some((other) => other !== word && other.startsWith(word)))
    .slice(0, SEARCH_WORDS_MAX);
};

/**
 * What an index stores of a prompt: its words, and the pieces of words without spaces between them. Each occurs once.
 * Together they have at most five times as many characters as a prompt may have.
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

/** Whether a search finds the prompt. */
export const isFoundBy = (words: readonly string[], prompt: string): boolean => {
  const indexed = indexedWords(prompt);
  return words.every((word) => indexed.some((one) => one.startsWith(word)));
};
