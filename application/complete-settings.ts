import { credits } from "../domain/credits/credits.js";
import { PANORAMA_POLICY } from "../domain/panorama-policy.js";
import type { AccountEvent } from "../domain/tasks/account-event.js";
import { statusOf, type Task } from "../domain/tasks/task.js";
import type { ApplicationSettings } from "./application-settings.js";

/** The settings, with defaults in place of omitted ones. */
export const completeSettings = ({
  policy = PANORAMA_POLICY,
  signUp = "open",
  welcomeCredits = credits(0),
  submissionDeadlineMilliseconds = 35_000,
  generationDeadlineMilliseconds = 600_000,
  queueMax = 10_000,
  leaseMilliseconds = 60_000,
  pollMillisecondsMax = leaseMilliseconds,
  seamMax,
  resultBounds = {},
  referenceRetentionHours = 24,
  finishedImageRetentionMilliseconds = null,
  webhookPrivateOrigins = [],
  processes = "several",
  eventBody = shortEventBody,
}: ApplicationSettings) => ({
  policy,
  signUp,
  welcomeCredits,
  submissionDeadlineMilliseconds,
  generationDeadlineMilliseconds,
  /** A task waits in the queue for as long as a generation may take. */
  queueDeadlineMilliseconds: generationDeadlineMilliseconds,
  queueMax,
  leaseMilliseconds,
  pollMillisecondsMax,
  resultBounds: { seamMax, ...resultBounds },
  referenceRetentionHours,
  finishedImageRetentionMilliseconds,
  webhookPrivateOrigins,
  processes,
  eventBody,
});

/** What `completeSettings` returns. */
export type CompleteSettings = ReturnType<typeof completeSettings>;

const shortEventBody = (event: AccountEvent, task: Task | undefined): string => {
  const { type, at: timestamp } = event;
  const data =
    type === "credits.low"
      ? { remaining_credits: event.remainingCredits }
      : { id: event.taskId, status: task && statusOf(task) };
  return JSON.stringify({ type, timestamp, data });
};
