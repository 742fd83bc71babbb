import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import type { TaskId } from "../../domain/task-id.js";
import type { Service } from "../service.js";
import { tokens } from "../tokens.js";
import { type Command, type Output, optionalText } from "./command.js";

export const imageRetry: Command = {
  words: "image retry",
  usage: "--task ID --account ID | --all",
  options: { task: { type: "string" }, account: { type: "string" }, all: { type: "boolean" } },
  required: [],
  run: async (service, values) => {
    const [task, account] = [optionalText(values, "task"), optionalText(values, "account")];
    if (values.all === true && task === undefined && account === undefined) return retryAll(service);
    if (values.all !== true && task !== undefined && account !== undefined) {
      return retryOne(service, task as TaskId, account as AccountId);
    }
    return err("panorama image retry: Give --task and --account for one image, or only --all for every failed one.");
  },
};

const retryAll = async (service: Service): Promise<Result<Output, string>> => {
  const { panoramas } = await service.get(tokens.storeUseCases);
  const retried = await panoramas.retryFailedImages();
  return ok({ json: { retried }, lines: [`failed images that the service will fetch again: ${retried}`] });
};

const retryOne = async (service: Service, id: TaskId, account: AccountId): Promise<Result<Output, string>> => {
  const { panoramas } = await service.get(tokens.storeUseCases);
  const retried = await panoramas.retryImage(id, account);
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
};
