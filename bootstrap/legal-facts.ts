import type { LegalFacts } from "../adapters/web/site/legal-pages.js";
import { SESSION_SECONDS } from "../domain/accounts/session.js";
import { EVENT_RETENTION_MILLISECONDS } from "../domain/tasks/account-event.js";
import { TEXTS_KEPT_MILLISECONDS } from "../domain/tasks/task-texts.js";
import type { GalleryMode } from "../domain/tasks/visibility.js";
import type { Config } from "./config.js";

const DAY_MILLISECONDS = 86_400_000;
const daysIn = (milliseconds: number): string => String(milliseconds / DAY_MILLISECONDS);

const GALLERIES: Readonly<Record<GalleryMode, string>> = {
  open: "The gallery shows all public panoramas.",
  off: "There is no gallery: others need the link.",
};

const STORAGES: Readonly<Record<Config["storage"]["kind"], string>> = {
  filesystem: "Pictures are files on our own servers.",
  gcs: "Pictures are in a bucket of Google Cloud Storage.",
  s3: "Pictures are in a bucket of an object storage.",
};

/** Facts of this installation for the operator's pages. `imageOrigin`: origin that serves pictures. */
export const legalFacts = (
  { publicUrl, provider, storage, referenceRetentionHours, gallery, stripe, mail }: Config,
  imageOrigin: string,
): LegalFacts => ({
  public_url: publicUrl,
  provider:
    provider.kind === "local"
      ? "A program on our own servers paints the panoramas. Nothing is sent to others."
      : `Prompts and reference pictures are sent to ${provider.inOrder.map(({ kind }) => kind).join(", ")}.`,
  storage: STORAGES[storage.kind],
  other_sites:
    imageOrigin === new URL(publicUrl).origin
      ? "Nothing is loaded from other sites."
      : `Pictures are loaded from ${imageOrigin}, and nothing from other sites.`,
  reference_hours: String(referenceRetentionHours),
  session_days: daysIn(SESSION_SECONDS * 1000),
  text_days: daysIn(TEXTS_KEPT_MILLISECONDS),
  event_days: daysIn(EVENT_RETENTION_MILLISECONDS),
  gallery: GALLERIES[gallery],
  mail:
    mail === undefined
      ? "This service sends no e-mails."
      : "A mail server gets your address, and the e-mails with links for logins.",
  payments:
    stripe === undefined
      ? "Payments are agreed on with the operator; this service sees no means of payment."
      : "Stripe processes payments. This service stores orders, and no means of payment.",
});
