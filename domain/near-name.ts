/** Longer names are not compared. */
const NAME_CHARACTERS_MAX = 64;

/**
 * The name of `ours` that was probably meant by one that is not ours: another case or punctuation, singular for plural,
 * with or without "url" or what it is for, such as `imageUrl`, `images` or `reference_image_urls` for `image_urls`.
 */
export const nearName = (name: string, ours: readonly string[]): string | undefined => {
  if (name.length > NAME_CHARACTERS_MAX || ours.includes(name)) return undefined;
  const meant = stem(name);
  return meant === "" ? undefined : ours.find((one) => stem(one) === meant);
};

const stem = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z]/g, "")
    .replace(/^(reference|input)/, "")
    .replace(/s$/, "")
    .replace(/ur[il]$/, "")
    .replace(/s$/, "");
