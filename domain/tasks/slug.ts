import { type Brand, valueOrThrow } from "../ids.js";
import type { Visibility } from "./visibility.js";

/** Names a panorama in its viewer link: 16 random characters of a–z and 0–9, so that it cannot be guessed. */
export type Slug = Brand<string, "Slug">;

const SLUG_CHARACTERS = 16;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Creates a slug. Throws for fewer than 16 random bytes. The bias of `% 36` costs less than half a bit of 82. */
export const slugFrom = (randomBytes: Uint8Array): Slug => {
  if (randomBytes.length < SLUG_CHARACTERS) throw new RangeError(`a slug needs ${SLUG_CHARACTERS} random bytes`);
  return [...randomBytes.subarray(0, SLUG_CHARACTERS)].map((byte) => ALPHABET[byte % ALPHABET.length]).join("") as Slug;
};

/** Parses a slug; `undefined` if the text has another form. */
export const parseSlug = (text: string): Slug | undefined => (/^[a-z0-9]{16}$/.test(text) ? (text as Slug) : undefined);

/** The viewer's path (specification, Visibility): `/p/{slug}` for everybody, `/works/{slug}` for the owner only. */
export const viewerPath = (slug: Slug, visibility: Visibility): string =>
  visibility === "public" ? `/p/${slug}` : `/works/${slug}`;

/** Creates a slug from a constant. Throws if it is invalid; parse input instead. */
export const slug = (text: string): Slug =>
  valueOrThrow(parseSlug(text), text, "a slug: 16 of the characters a-z and 0-9");
