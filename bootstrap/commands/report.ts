import { ok } from "neverthrow";
import { tokens } from "../tokens.js";
import { type Command, REASON, text } from "./common/command.js";
import { LIMIT, limitOf } from "./common/page.js";
import { withhold } from "./gallery.js";

export const reportList: Command = {
  words: "report list",
  about: "Lists the panoramas that visitors have reported and no operator has decided about, the oldest first.",
  usage: "[--limit N]",
  options: LIMIT,
  required: [],
  example: "report list",
  run: async (service, values) => {
    const limit = limitOf(values);
    if (limit.isErr()) return limit.map(() => undefined);
    const { operators } = await service.get(tokens.storeUseCases);
    const reported = (await operators.listReports(limit.value)).map(({ task, total, reports }) => ({
      slug: task.slug,
      task_id: task.id,
      account_id: task.accountId,
      visibility: task.request.visibility,
      total,
      reports: reports.map(({ reason, text: said, at }) => ({ reason, text: said ?? null, at: at.toISOString() })),
    }));
    const lines = reported.flatMap(({ slug, total, account_id, reports }) => [
      `${slug}  ${total} reports  ${account_id}`,
      ...reports.map(
        ({ reason, text: said, at }) => `  ${at}  ${reason}${said === null ? "" : `: ${onOneLine(said)}`}`,
      ),
    ]);
    return ok({ json: { reported }, lines: lines.length === 0 ? ["nothing is reported"] : lines });
  },
};

/** Strangers have written it: it must not change the terminal. */
const onOneLine = (said: string): string => said.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ");

export const reportDismiss: Command = {
  words: "report dismiss",
  about: "Ends the reports of a panorama, which stays as it is.",
  usage: "SLUG",
  options: {},
  positional: "slug",
  required: ["slug"],
  example: "report dismiss AbCdEfGhIj",
  isRecorded: true,
  run: async (service, values) => {
    const { operators } = await service.get(tokens.storeUseCases);
    return (await operators.dismissReports(text(values, "slug").trim())).map((task) => ({
      json: { task_id: task.id, slug: task.slug, status: "dismissed" },
      lines: [`the reports of panorama ${task.slug} are dismissed`],
    }));
  },
};

export const reportHide: Command = {
  words: "report hide",
  about: "Hides a reported panorama as gallery hide does, and ends its reports.",
  usage: "SLUG --reason TEXT",
  options: REASON,
  positional: "slug",
  required: ["slug", "reason"],
  example: 'report hide AbCdEfGhIj --reason "Shows a private person"',
  isRecorded: true,
  run: (service, values) => withhold(service, text(values, "slug"), text(values, "reason")),
};
