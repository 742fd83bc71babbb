import { isStorable } from "../text.js";
import { type AdjustmentReason, parseAdjustmentReason } from "./adjustment.js";
import type { IdempotencyKey } from "./idempotency.js";
import type { LedgerEntry } from "./ledger.js";

/** Optional notes of a product on a hold or an entry. */
export type EntryNotes = {
  /** For people, such as `lecture.mp4, 42 minutes`: at most 500 characters. */
  readonly description?: string | undefined;
  /** For programs, such as the id of a job: at most 16 pairs, with keys of 40 and values of 500 characters. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
};

/** An entry in the ledger of a meter's account. */
export type MeterEntry = LedgerEntry &
  EntryNotes & {
    /** Reason of a refund of captured credits, or of an adjustment. */
    readonly reason?: string | undefined;
    /** Idempotency key of the refund or the adjustment. */
    readonly idempotencyKey?: IdempotencyKey | undefined;
  };

const DESCRIPTION_CHARACTERS_MAX = 500;
const PAIRS_MAX = 16;
const KEY_CHARACTERS_MAX = 40;
const VALUE_CHARACTERS_MAX = 500;

/** Returns the notes without members that are undefined. Throws for texts that are too long or cannot be stored. */
export const entryNotes = ({ description, metadata }: EntryNotes): EntryNotes => {
  if (description !== undefined) requireText("The description", description, DESCRIPTION_CHARACTERS_MAX);
  const pairs = Object.entries(metadata ?? {});
  if (pairs.length > PAIRS_MAX) throw new RangeError(`The metadata has ${pairs.length} pairs, more than ${PAIRS_MAX}.`);
  for (const [key, value] of pairs) {
    requireText("A key of the metadata", key, KEY_CHARACTERS_MAX);
    requireText(`metadata.${key}`, value, VALUE_CHARACTERS_MAX);
  }
  return {
    ...(description !== undefined && { description }),
    ...(pairs.length > 0 && { metadata: Object.fromEntries(pairs) }),
  };
};

/** Trims a reason. Throws if it is invalid. */
export const entryReason = (text: string): AdjustmentReason =>
  parseAdjustmentReason(text).match(
    (reason) => reason,
    () => {
      throw new RangeError(`${JSON.stringify(text)} cannot be a reason: 1 to 200 characters that can be stored`);
    },
  );

const requireText = (what: string, text: unknown, charactersMax: number): void => {
  if (typeof text === "string" && text.length <= charactersMax && isStorable(text)) return;
  throw new RangeError(`${what} must be text of at most ${charactersMax} characters that can be stored.`);
};
