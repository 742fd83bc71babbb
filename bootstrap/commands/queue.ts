import { ok } from "neverthrow";
import { tokens } from "../tokens.js";
import type { Command } from "./common/command.js";

/** Accounts that are named. */
const ACCOUNTS_MAX = 20;

export const queueShow: Command = {
  words: "queue show",
  about: "Shows the tasks that wait for a provider, since when, for whom, and what is running.",
  usage: "",
  options: {},
  required: [],
  example: "queue show",
  run: async (service) => {
    const operators = await service.get(tokens.operators);
    const { waiting, oldest, running, accounts } = await operators.queue(ACCOUNTS_MAX);
    return ok({
      json: {
        waiting,
        oldest: oldest?.toISOString() ?? null,
        running: running.map(({ place, tasks }) => ({ place: place ?? null, tasks })),
        accounts: accounts.map(({ accountId, waiting: tasks }) => ({ account_id: accountId, waiting: tasks })),
      },
      lines: [
        oldest === undefined ? "no task waits" : `${waiting} tasks wait, the oldest since ${oldest.toISOString()}`,
        ...running.map(({ place, tasks }) => `${tasks} running at ${place ?? "an unrecorded place"}`),
        ...accounts.map(({ accountId, waiting: tasks }) => `${tasks} of account ${accountId} wait`),
      ],
    });
  },
};
