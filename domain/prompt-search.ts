/** The characters of a search that count. The rest is ignored. */
export const SEARCH_CHARACTERS_MAX = 100;

/** The characters of a prompt that a search reads: all that a creation may have. Earlier versions stored longer prompts. */
export const SEARCHED_CHARACTERS_MAX = 4000;

/** Accents, vowel points and the like, but not the vowels of scripts such as Devanagari; and invisible characters. */
const IGNORED = /(?=\p{M})[\p{Diacritic}\p{Script=Inherited}]|\p{Default_Ignorable_Code_Point}/gu;

/** Symbols such as emoji count as words. */
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}\p{So}]+/gu;

/** Between words of these scripts there is no space, so a word may begin at each character. */
const WITHOUT_SPACES =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{So}]/u;

/** The words of a text with spaces between them, as they are compared: without case, diacritics and variants of letters. */
const wordsOf = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(IGNORED, "")
    // Both, because some letters have several small or several capital forms.
    .toLowerCase()
    .toUpperCase()
    .replace(BETWEEN_WORDS, " ");

/** The words to search for. There are none in a text of spaces and punctuation. Takes any text. */
export const searchWords = (search: string): readonly string[] =>
  wordsOf([...search].slice(0, SEARCH_CHARACTERS_MAX).join(""))
    .split(" ")
    .filter((word) => word !== "");

/** Whether a search finds the prompt: each of its words is the beginning of a word of the prompt. */
export const isFoundBy = (words: readonly string[], prompt: string): boolean => {
  const text = ` ${wordsOf(prompt)}`;
  return words.every((word) => text.includes(WITHOUT_SPACES.test(word) ? word : ` ${word}`));
};
