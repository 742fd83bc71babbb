import { err, ok, type Result } from "neverthrow";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import { isStorable } from "../storable-text.js";

/** What a visitor can say is wrong with a public panorama. */
export const REPORT_REASONS = ["person", "rights", "violence", "sexual", "hate", "other"] as const;

/** One of `REPORT_REASONS`. */
export type ReportReason = (typeof REPORT_REASONS)[number];

/** The longest text of a report, in characters. */
export const REPORT_CHARACTERS_MAX = 1000;

/** What a visitor has said. `text`: in their words, if they gave any. */
export type ReportContent = { readonly reason: ReportReason; readonly text: string | undefined };

/**
 * A report of a public panorama. Each network reports a panorama once.
 *
 *   open ──dismiss──▶ dismissed
 *     ├────hide─────▶ hidden
 *     └───delete────▶ deleted
 *
 * The end of a report is that of all open reports of its panorama: the operator decides about the panorama, or its
 * owner deletes it.
 */
export type ReportOutcome = "dismissed" | "hidden" | "deleted";

/** Trims the text. */
export const parseReport = (reason: string, text: string): Result<ReportContent, InvalidRequest> => {
  const known = REPORT_REASONS.find((one) => one === reason);
  if (known === undefined) {
    return err(invalidRequest("reason", { name: "one_of", allowed: REPORT_REASONS, actual: reason }));
  }
  const trimmed = text.trim();
  const characters = [...trimmed].length;
  if (characters > REPORT_CHARACTERS_MAX || !isStorable(trimmed)) {
    const rule = { name: "visible_characters", min: 0, max: REPORT_CHARACTERS_MAX, actual: trimmed } as const;
    return err(invalidRequest("text", rule));
  }
  return ok({ reason: known, text: trimmed === "" ? undefined : trimmed });
};
