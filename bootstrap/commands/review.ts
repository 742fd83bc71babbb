import { ok } from "neverthrow";
import { tokens } from "../tokens.js";
import { type Command, REASON, text } from "./common/command.js";
import { withhold } from "./gallery.js";

const LISTED_MAX = 1000;

export const reviewList: Command = {
  words: "review list",
  about: "Lists panoramas that others may see only when an operator has looked at them, the oldest first.",
  usage: "",
  options: {},
  required: [],
  example: "review list",
  run: async (service) => {
    const operators = await service.get(tokens.operators);
    const reviews = (await operators.reviews(LISTED_MAX)).map(({ task, since }) => ({
      slug: task.slug,
      task_id: task.id,
      account_id: task.accountId,
      state: task.state,
      since: since.toISOString(),
    }));
    const lines = reviews.map(({ slug, state, since, account_id }) => `${slug}  ${state}  ${since}  ${account_id}`);
    return ok({ json: { reviews }, lines: lines.length === 0 ? ["nothing waits for a review"] : lines });
  },
};

export const reviewAllow: Command = {
  words: "review allow",
  about: "Ends a review: the panorama gets the visibility that its owner asked for.",
  usage: "SLUG",
  options: {},
  positional: "slug",
  required: ["slug"],
  example: "review allow AbCdEfGhIj",
  isRecorded: true,
  run: (service, values) => withhold(service, text(values, "slug"), undefined),
};

export const reviewBlock: Command = {
  words: "review block",
  about: "Ends a review: the panorama stays hidden from everybody but its owner.",
  usage: "SLUG --reason TEXT",
  options: REASON,
  positional: "slug",
  required: ["slug", "reason"],
  example: 'review block AbCdEfGhIj --reason "Shows a private person"',
  isRecorded: true,
  run: (service, values) => withhold(service, text(values, "slug"), text(values, "reason")),
};
