import type { BrokenRule } from "../invalid-request.js";
import { isStorable } from "../text.js";

/** The customer's own data about a task, as pairs of key and value. Own properties only. */
export type Metadata = Readonly<Record<string, string>>;

/** Maximum number of pairs per task. */
export const METADATA_PAIRS_MAX = 16;
/** Maximum length of a key, in characters. */
export const METADATA_KEY_CHARACTERS_MAX = 40;
/** Maximum length of a value, in characters. */
export const METADATA_VALUE_CHARACTERS_MAX = 500;

/** No pairs. */
export const NO_METADATA: Metadata = {};

/** The first rule of metadata that a value breaks; `undefined` if it is valid. */
export const brokenMetadataRule = (value: unknown): BrokenRule | undefined => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { name: "type", expected: "object", actual: value };
  }
  const pairs = Object.entries(value);
  if (pairs.length > METADATA_PAIRS_MAX) return { name: "pairs_max", max: METADATA_PAIRS_MAX, actual: pairs.length };
  for (const [key, item] of pairs) {
    const length = characters(key);
    if (length < 1 || length > METADATA_KEY_CHARACTERS_MAX) {
      return { name: "pair_key", min: 1, max: METADATA_KEY_CHARACTERS_MAX, actual: key };
    }
    if (!isStorable(key)) return { name: "storable_text" };
    if (typeof item !== "string" || characters(item) > METADATA_VALUE_CHARACTERS_MAX) {
      return { name: "pair_value", key, max: METADATA_VALUE_CHARACTERS_MAX, actual: item };
    }
    if (!isStorable(item)) return { name: "storable_text" };
  }
  return undefined;
};

/** The pairs in the order of their keys. */
export const sortedMetadata = (metadata: Metadata): Metadata =>
  Object.fromEntries(
    Object.keys(metadata)
      .sort()
      .map((key) => [key, metadata[key] as string]),
  );

/** Number of code points, as in a prompt. */
const characters = (text: string): number => [...text].length;
