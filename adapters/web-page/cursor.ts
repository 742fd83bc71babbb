import { createHash } from "node:crypto";

/**
 * A place in a list, as text for a URL: the place and a digest of it. So text that is cut, altered, or of another list
 * is recognized without a look-up. `list`: the name of the list, with its filters.
 */
export const cursorOf = (list: string, place: string): string => `${place}.${digestOf(list, place)}`;

/** The place in a text of `cursorOf` for the same list; `undefined` for any other text. */
export function placeIn(list: string, cursor: string): string | undefined {
  const place = cursor.slice(0, Math.max(0, cursor.lastIndexOf(".")));
  return cursor === cursorOf(list, place) ? place : undefined;
}

const digestOf = (list: string, place: string): string =>
  createHash("sha256")
    .update(JSON.stringify([list, place]))
    .digest("base64url")
    .slice(0, 16);
