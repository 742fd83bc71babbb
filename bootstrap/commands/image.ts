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
        lines: [`the service will fetch the image of ${id} again`],
      }))
      .mapErr((error) => {
        switch (error.kind) {
          case "not_found":
            return error.message;
          case "illegal_transition":
            return `The storage status of ${id} is ${error.from}. Only a failed image can be retried.`;
          case "stale_task":
            return `The service is updating ${id} at this moment. Try again in a few seconds.`;
        }
      });
  },
};
