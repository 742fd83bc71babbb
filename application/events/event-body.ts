import type { AccountEvent } from "../../domain/tasks/account-event.js";
import type { Task } from "../../domain/tasks/task.js";
import { panoramaTask, type TaskUrls } from "./panorama-task.js";

/**
 * Writes the body of an event as JSON, when it is sent: that of a webhook, which `verifyWebhook` of the client reads,
 * and the data of an event in a stream. `task` is that of an event about a task. A copy in the transaction that writes
 * the event would need the URLs of this installation, and repeat every prompt.
 */
export const eventBody = (event: AccountEvent, task: Task | undefined, urls: TaskUrls): string => {
  const { type, at } = event;
  const timestamp = at.toISOString();
  if (type === "credits.low") {
    return JSON.stringify({ type, timestamp, data: { remaining_credits: event.remainingCredits } });
  }
  if (task === undefined) throw new Error(`the task of event ${event.number} of account ${event.accountId} is missing`);
  return JSON.stringify({ type, timestamp, data: panoramaTask(task, urls) });
};
