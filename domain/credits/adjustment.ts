import { err, ok, type Result } from "neverthrow";
import type { Brand } from "../ids.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import { isStorable } from "../text.js";

/** The operator's reason for an adjustment: 1 to 200 characters, shown to the owner of the account. */
export type AdjustmentReason = Brand<string, "AdjustmentReason">;

const REASON_CHARACTERS_MAX = 200;

/** Trims and checks the text. The error names the broken rule. */
export const parseAdjustmentReason = (text: string): Result<AdjustmentReason, InvalidRequest> =>
  parseNote("reason", text, REASON_CHARACTERS_MAX);

/** The operator's reference of an adjustment, unique in its account: 1 to 100 characters. */
export type AdjustmentReference = Brand<string, "AdjustmentReference">;

const REFERENCE_CHARACTERS_MAX = 100;

/** Trims and checks the text. The error names the broken rule. */
export const parseAdjustmentReference = (text: string): Result<AdjustmentReference, InvalidRequest> =>
  parseNote("reference", text, REFERENCE_CHARACTERS_MAX);

const parseNote = <Note extends string>(field: string, text: string, max: number): Result<Note, InvalidRequest> => {
  const note = text.trim();
  const actual = [...note].length;
  if (!isStorable(note)) return err(invalidRequest(field, { name: "storable_text" }));
  return actual >= 1 && actual <= max
    ? ok(note as Note)
    : err(invalidRequest(field, { name: "characters", min: 1, max, actual }));
};
