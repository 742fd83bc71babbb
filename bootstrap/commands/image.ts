import type { AccountId } from "../../domain/account.js";
import type { TaskId } from "../../domain/task-id.js";
import { tokens } from "../tokens.js";
import { type Command, text } from "./command.js";

export const imageRetry: Command = {
  words: "image retry",
  usage: "--task ID --account ID",
  options: { task: { type: "string" }, account: { type: "string" } },
  required: ["task", "account"],
  run: async (service, values) => {
    const retryImage = await service.get(tokens.retryImage);
    const id = text(values, "task") as TaskId;
    const retried = await retryImage(id, text(values, "account") as AccountId);
    return retried
      .map(() => ({
        json: { task_id: id, storage_status: "uploading" },
        lines: [`the image of ${id} will be fetched again`],
      }))
      .mapErr((error) => {
        switch (error.kind) {
          case "not_found":
            return error.message;
          case "illegal_transition":
            return `The image of task ${id} cannot be retried: event "${error.event}" is not allowed in state "${error.from}".`;
          case "stale_task":
            return `The service is working on ${id} right now; look again in a moment.`;
        }
      });
  },
};
