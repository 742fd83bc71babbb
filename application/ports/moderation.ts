import type { Result } from "neverthrow";
import type { ImageType } from "../../domain/images/image-type.js";

/** One thing to judge. `image_url`: an image elsewhere, which the moderation reads itself. */
export type ModeratedPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image_url"; readonly url: string }
  | { readonly kind: "image"; readonly bytes: Uint8Array; readonly type: ImageType };

/** From the mildest to the strictest. `review`: work goes on, but nobody except the owner sees the result. */
export const MODERATION_ANSWERS = ["allow", "review", "block"] as const;

/** One of `MODERATION_ANSWERS`. */
export type ModerationAnswer = (typeof MODERATION_ANSWERS)[number];

/** There is no answer that counts. `reason` is for operators and must not quote the part. */
export type ModerationUnavailable = { readonly kind: "moderation_unavailable"; readonly reason: string };

/** Judges what customers want to see, and what was made for them. */
export interface Moderation {
  /** Ends when `signal` is aborted: then nobody waits for the answer. */
  judge(part: ModeratedPart, signal: AbortSignal): Promise<Result<ModerationAnswer, ModerationUnavailable>>;
  /** Names the part in the log: a keyed hash, so that nobody without the key can try texts. */
  hashOf(part: ModeratedPart): string;
}
