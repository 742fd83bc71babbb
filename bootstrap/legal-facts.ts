import type { LegalFacts } from "../adapters/web/site/legal-pages.js";
import { SESSION_SECONDS } from "../domain/accounts/session.js";
import type { GalleryMode } from "../domain/tasks/gallery.js";
import type { Config } from "./config.js";

const DAY_SECONDS = 86_400;
/** As long as application/webhooks/delete-old-events.ts keeps them. */
const EVENT_DAYS = 30;

const GALLERIES: Readonly<Record<GalleryMode, string>> = {
  open: "The gallery shows all public panoramas.",
  approved: "The gallery shows those that an operator has approved.",
  off: "There is no gallery: others need the link.",
};

/** What the pages of the operator can say of this installation without being told. */
export const legalFacts = ({
  publicUrl,
  provider,
  retention: { finishedImagesDays },
  referenceRetentionHours,
  gallery,
  moderation,
  stripe,
}: Config): LegalFacts => ({
  public_url: publicUrl,
  provider:
    provider.kind === "local"
      ? "a program on our own servers paints the panoramas. Nothing is sent to others."
      : `prompts and reference pictures are sent to ${provider.inOrder.map(({ kind }) => kind).join(", ")}.`,
  finished_images: finishedImagesDays === null ? "without a limit" : `${finishedImagesDays} days`,
  reference_hours: String(referenceRetentionHours),
  session_days: String(SESSION_SECONDS / DAY_SECONDS),
  event_days: String(EVENT_DAYS),
  gallery: GALLERIES[gallery],
  moderation: MODERATIONS[moderation?.kind ?? "off"] ?? "A moderation examines prompts, pictures and results.",
  payments:
    stripe === undefined
      ? "Payments are agreed on with the operator; this service sees no means of payment."
      : "Stripe processes payments. This service stores orders, and no means of payment.",
});

const MODERATIONS: Readonly<Record<string, string>> = {
  off: "Prompts and pictures are not examined automatically.",
  words: "A list of words is applied to prompts here. Nothing is sent to others for that.",
  openai: "Prompts, pictures and results are sent to OpenAI, which says whether they break rules.",
  http: "Prompts, pictures and results are sent to a moderation of the operator.",
};
