import { err, ok, type Result } from "neverthrow";
import type { SubmissionFailure } from "../../../../application/ports/generation-provider.js";
import type { Answer } from "../calls/upstream-http.js";
import { unusableReference } from "../images/reference-failure.js";
import { meaningOf } from "./meaning-of.js";

/** The picture is refused, and not the call. */
const UNUSABLE_STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/**
 * What the answer to the upload of a reference image means: its JSON, or the failure of the creation. An upload starts
 * nothing, so what may work later is tried again later, after `pauseSeconds`.
 */
export const uploaded = (answer: Answer, pauseSeconds: number): Result<unknown, SubmissionFailure> => {
  const { status, body } = answer;
  if (status >= 200 && status < 300 && body !== undefined) return ok(body);
  const reason = `the upload of a reference image: ${meaningOf(answer)}`;
  if (UNUSABLE_STATUSES.has(status)) return err(unusableReference(reason));
  return status === 429 || status === 408 || status >= 500
    ? err({ kind: "busy", reason, retryAfterMilliseconds: pauseSeconds * 1000 })
    : err({ kind: "refused", reason, cause: "provider_unavailable" });
};
