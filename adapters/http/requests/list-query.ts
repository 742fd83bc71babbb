import { err, ok, type Result } from "neverthrow";
import { firstCharacters, nearest } from "../../../domain/text.js";
import { type InvalidMessage, invalidMessage } from "../../wording/rule-predicate.js";
import { shown } from "../../wording/shown.js";

/** The pairs that a task must have: `metadata.KEY`, with any key. */
export const METADATA_PREFIX = "metadata.";
const METADATA = `${METADATA_PREFIX}KEY`;

const NAME_CHARACTERS_MAX = 64;

/**
 * Refuses a parameter that the list does not have, or that is given twice: the answer would be another list than the
 * one that was meant. `known` may contain `metadata.KEY`.
 */
export const listQuery = (
  query: URLSearchParams,
  known: readonly string[],
): Result<URLSearchParams, InvalidMessage> => {
  const seen = new Set<string>();
  for (const name of query.keys()) {
    const field = /^[\w.-]{1,64}$/.test(name) ? name : shown(name);
    if (!known.includes(name) && !(known.includes(METADATA) && name.startsWith(METADATA_PREFIX))) {
      return err(invalidMessage(field, { name: "unknown_parameter", meant: nearestOf(name, known), known }));
    }
    if (seen.has(name)) return err(invalidMessage(field, { name: "once" }));
    seen.add(name);
  }
  return ok(query);
};

/** Compared without a key, as in `meta.order` and `status[]`. */
const nearestOf = (name: string, known: readonly string[]): string => {
  const word = firstCharacters(stem(name), NAME_CHARACTERS_MAX);
  const begun = known.find((one) => word !== "" && one.startsWith(word));
  const meant = nearest(word, known.map(stem));
  return begun ?? known.find((one) => stem(one) === meant) ?? meant;
};

const stem = (name: string): string => name.replace(/[.[].*$/s, "");
