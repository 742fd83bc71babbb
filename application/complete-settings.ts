import { credits } from "../domain/credits/credits.js";
import { PANORAMA_POLICY } from "../domain/panorama-policy.js";
import type { ApplicationSettings } from "./application-settings.js";

/** The settings, with defaults in place of omitted ones. */
export const completeSettings = ({
  policy = PANORAMA_POLICY,
  signUp = "open",
  gallery = "open",
  welcomeCredits = credits(0),
  submissionDeadlineMilliseconds = 35_000,
  generationDeadlineMilliseconds = 600_000,
  queueMax = 10_000,
  leaseMilliseconds = 60_000,
  pollMillisecondsMax = leaseMilliseconds,
  resultBounds = {},
  referenceRetentionHours = 24,
  webhookPrivateOrigins = [],
  processes = "several",
  viewerUrl,
}: ApplicationSettings) => ({
  policy,
  signUp,
  gallery,
  welcomeCredits,
  submissionDeadlineMilliseconds,
  generationDeadlineMilliseconds,
  /** A task waits in the queue for as long as a generation may take. */
  queueDeadlineMilliseconds: generationDeadlineMilliseconds,
  queueMax,
  leaseMilliseconds,
  pollMillisecondsMax,
  resultBounds,
  referenceRetentionHours,
  webhookPrivateOrigins,
  processes,
  viewerUrl,
});

/** What `completeSettings` returns. */
export type CompleteSettings = ReturnType<typeof completeSettings>;
