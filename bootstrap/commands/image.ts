import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account-id.js";
import type { TaskId } from "../../domain/task-id.js";
import { type CommandError, misused, refused } from "../command-error.js";
import type { Service } from "../service.js";
import { tokens } from "../tokens.js";
import { ACCOUNT, type Command, type Output, optionalText } from "./common/command.js";

export const imageRetry: Command = {
  words: "image retry",
  about: "Stores a finished image again whose storage has failed, or every such image.",
  usage: "--task ID --account ID | --all",
  options: {
    task: { type: "string", about: "id of the task" },
    ...ACCOUNT,
    all: { type: "boolean", about: "every failed image of all accounts" },
  },
  required: [],
  example: "image retry --all",
  isRecorded: true,
  run: async (service, values) => {
    const [task, account] = [optionalText(values, "task"), optionalText(values, "account")];
    if (values.all === true && task === undefined && account === undefined) return retryAll(service);
    if (values.all !== true && task !== undefined && account !== undefined) {
      return retryOne(service, task as TaskId, account as AccountId);
    }
    return err(misused("Give --task and --account for one image, or only --all for every failed one."));
  },
};

const retryAll = async (service: Service): Promise<Result<Output, CommandError>> => {
  const { panoramas } = await service.get(tokens.storeUseCases);
  const retried = await panoramas.retryFailedImages();
  return ok({ json: { retried }, lines: [`failed images that the service will fetch again: ${retried}`] });
};

export const retryOne = async (
  service: Service,
  id: TaskId,
  account: AccountId,
): Promise<Result<Output, CommandError>> => {
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
          return error;
        case "illegal_transition":
          return refused(`The storage status of ${id} is ${error.from}. Only a failed image can be retried.`);
        case "stale_task":
          return refused(`The service is updating ${id} at this moment. Try again in a few seconds.`);
      }
    });
};
