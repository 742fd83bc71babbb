import { imageTypeOf } from "../../domain/images/image-type.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import type { CreationRequest } from "../../domain/tasks/creation-request.js";
import type { ApplicationSettings } from "../application-settings.js";
import type { Clock } from "../ports/clock.js";
import type { Imaging } from "../ports/imaging.js";
import { MODERATION_ANSWERS, type ModeratedPart, type Moderation, type ModerationAnswer } from "../ports/moderation.js";
import type { ObjectStorage } from "../ports/object-storage.js";
import type { Reporter } from "../ports/reporter.js";

/** What asking the moderation needs. */
export type ModerationPorts = {
  /** Absent: everything is allowed, and nothing is asked. */
  readonly moderation?: Moderation | undefined;
  readonly clock: Clock;
  readonly reporter: Pick<Reporter, "report">;
};

/** Absent ones: `MODERATION_TIMEOUT_MILLISECONDS`, and `refuse`. */
export type ModerationSettings = Pick<
  ApplicationSettings,
  "moderationTimeoutMilliseconds" | "moderationWhenUnavailable"
>;

const MODERATION_TIMEOUT_MILLISECONDS = 5_000;

/** `unavailable`: there was no answer in time, and the setting does not allow what was not judged. */
type Judgement = ModerationAnswer | "unavailable";

/** What the moderation says. `needsReview`: the panorama is private until an operator has seen it. */
export type Judged = {
  readonly refusal: InvalidRequest | { readonly kind: "upstream_error" } | undefined;
  readonly needsReview: boolean;
};

/**
 * Judges prompt and reference images, all at the same time, so that a creation waits for one time-out at most. A
 * refusal names the parameter, and no category: who tries words must not learn which rule they met.
 */
export const moderateCreation = async (
  ports: ModerationPorts & {
    readonly moderation: Moderation;
    readonly storage: Pick<ObjectStorage, "nameOf" | "read">;
  },
  settings: ModerationSettings,
  { prompt, imageUrls }: CreationRequest,
): Promise<Judged> => {
  const judged = (part: ModeratedPart) => judge(ports, settings, "creation", async () => part);
  const [ofPrompt, ...ofImages] = await Promise.all([
    prompt === undefined ? ("allow" as const) : judged({ kind: "text", text: prompt }),
    ...imageUrls.map((url) => judge(ports, settings, "creation", () => referencePart(ports.storage, url))),
  ]);
  const blocked = ofImages.indexOf("block");
  const ofImage = blocked >= 0 ? refused("image_urls", blocked) : undefined;
  return judgedAs([ofPrompt, ...ofImages], ofPrompt === "block" ? refused("prompt") : ofImage);
};

/** Judges a finished panorama by its thumbnail: models look at no more pixels. */
export const moderateResult = async (
  ports: ModerationPorts & { readonly imaging: Pick<Imaging, "thumbnail"> },
  settings: ModerationSettings,
  panorama: Uint8Array,
): Promise<Judgement> => {
  if (ports.moderation === undefined) return "allow";
  return judge({ ...ports, moderation: ports.moderation }, settings, "result", async () => {
    const thumbnail = await ports.imaging.thumbnail(panorama);
    return thumbnail.match(
      (bytes): ModeratedPart => ({ kind: "image", bytes, type: "image/webp" }),
      (): ModeratedPart => ({ kind: "image", bytes: panorama, type: "image/jpeg" }),
    );
  });
};

const refused = (field: string, index?: number): InvalidRequest =>
  invalidRequest(field, { name: "content_refused" }, index);

const judgedAs = (judgements: readonly Judgement[], refusal: InvalidRequest | undefined): Judged => ({
  refusal: refusal ?? (judgements.includes("unavailable") ? { kind: "upstream_error" } : undefined),
  needsReview: judgements.includes("review"),
});

/**
 * An uploaded image is read here, because the moderation may not reach this installation. One that is gone is left out
 * here: opening the task refuses the creation because of it.
 */
const referencePart = async (
  storage: Pick<ObjectStorage, "nameOf" | "read">,
  url: string,
): Promise<ModeratedPart | undefined> => {
  const name = storage.nameOf(url);
  if (name === undefined) return { kind: "image_url", url };
  const bytes = await storage.read(name);
  if (bytes.isErr()) {
    if (bytes.error.kind === "not_found") return undefined;
    throw new Error(`the storage does not answer: ${bytes.error.reason}`);
  }
  return { kind: "image", bytes: bytes.value, type: imageTypeOf(bytes.value) ?? "image/jpeg" };
};

/** Resolves after the time-out at the latest, whatever the moderation does. Never rejects. */
const judge = async (
  { moderation, clock, reporter }: ModerationPorts & { readonly moderation: Moderation },
  { moderationTimeoutMilliseconds = MODERATION_TIMEOUT_MILLISECONDS, moderationWhenUnavailable }: ModerationSettings,
  of: "creation" | "result",
  read: () => Promise<ModeratedPart | undefined>,
): Promise<Judgement> => {
  const startedAt = clock.now().getTime();
  const stop = new AbortController();
  let hash: string | undefined;
  const late = clock.sleep(moderationTimeoutMilliseconds, stop.signal).then(() => "there was no answer in time");
  const ask = async (): Promise<{ readonly answer: ModerationAnswer } | string | undefined> => {
    const part = await read();
    if (part === undefined) return undefined;
    hash = moderation.hashOf(part);
    const answered = await moderation.judge(part, stop.signal);
    if (answered.isErr()) return answered.error.reason;
    // The adapter may be somebody else's, and may not be typed.
    const answer = MODERATION_ANSWERS.find((known) => known === answered.value);
    return answer === undefined ? "the answer is not one of allow, review and block" : { answer };
  };
  const asked = ask().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  const outcome = await Promise.race([asked, late]);
  stop.abort();
  if (outcome === undefined) return "allow";
  const seconds = (clock.now().getTime() - startedAt) / 1000;
  if (typeof outcome !== "string") {
    reporter.report({ kind: "moderated", of, answer: outcome.answer, seconds, hash });
    return outcome.answer;
  }
  reporter.report({ kind: "moderated", of, answer: "unavailable", seconds, hash, detail: outcome });
  return moderationWhenUnavailable === "allow" ? "allow" : "unavailable";
};
