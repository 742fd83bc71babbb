/**
 * True for text that every store returns unchanged: databases refuse U+0000, and half a surrogate pair is not a
 * character.
 */
export const isStorable = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed();

/** True for empty text, or only white space and characters without a shape. */
export const isBlank = (text: string): boolean =>
  !/[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800\u{1d159}]/u.test(text);

/** True for 1 to `max` characters without a control character: people see all of it in one line. */
export const isVisible = (text: string, max: number): boolean =>
  text !== "" && [...text].length <= max && !/\p{Cc}|\p{Cs}/u.test(text);

/** The first `max` characters. A character is a code point, never half of one. */
export const firstCharacters = (text: string, max: number): string => {
  const begin = text.slice(0, 2 * max); // a code point has at most two UTF-16 units
  return [...begin].slice(0, max).join("");
};

/** The text itself, or its first `charactersMax` Unicode characters and an ellipsis if it is longer. */
export const shortened = (text: string, charactersMax: number): string => {
  const first = firstCharacters(text, charactersMax);
  return first === text ? text : `${first}…`;
};

/** Maximum length of compared names. */
const NAME_CHARACTERS_MAX = 64;

/**
 * The name of `ours` that an unknown name probably means: another case or punctuation, singular for plural, with or
 * without "url" or its purpose, such as `imageUrl`, `images` or `reference_image_urls` for `image_urls`.
 */
export const nearName = (name: string, ours: readonly string[]): string | undefined => {
  if (name.length > NAME_CHARACTERS_MAX || ours.includes(name)) return undefined;
  return ours.find((one) => stem(one) === stem(name));
};

const stem = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z]/g, "")
    .replace(/^(reference|input)/, "")
    .replace(/s$/, "")
    .replace(/ur[il]$/, "")
    .replace(/s$/, "");

/** The known name with the smallest edit distance. */
export const nearest = (word: string, known: readonly string[]): string =>
  known.reduce((best, name) => (editDistance(word, name) < editDistance(word, best) ? name : best));

/** Levenshtein distance, ignoring case. */
export const editDistance = (from: string, to: string): number => {
  const [a, b] = [from.toLowerCase(), to.toLowerCase()];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
};
