import { readFile } from "node:fs/promises";
import { err, ok } from "neverthrow";
import * as z from "zod";
import type { AccountSummary } from "../../../application/ports/stores/operator-store.js";
import type { AccountId } from "../../../domain/ids.js";
import { misused } from "../../command-error.js";
import type { Service } from "../../service.js";
import { tokens } from "../../tokens.js";
import { type Command, textOf } from "../common/command.js";

const PAGE = 500;

export const accountErasures: Command = {
  words: "account erasures",
  about:
    "Lists the accounts that were closed. Save the --json output with each backup: after a restore, panorama account erase-again closes these accounts again.",
  usage: "",
  options: {},
  required: [],
  example: "account erasures --json > /backup/erasures.json",
  run: async (service) => {
    const closed = (await allAccounts(service)).flatMap(({ account, closedAt }) =>
      closedAt === undefined ? [] : [{ account_id: account.id, closed_at: closedAt.toISOString() }],
    );
    return ok({
      json: { erasures: closed },
      lines: closed.map(({ account_id, closed_at }) => `${closed_at}  ${account_id}`),
    });
  },
};

export const accountEraseAgain: Command = {
  words: "account erase-again",
  about:
    "Closes the accounts in FILE (output of panorama account erasures --json) again after a restore. Repeating it is safe.",
  usage: "FILE",
  options: {},
  positional: "file",
  required: ["file"],
  example: "account erase-again /backup/erasures.json",
  isRecorded: true,
  run: async (service, values) => {
    const file = textOf(values, "file");
    const listed = await readErasures(file);
    if (listed === undefined) return err(misused(`${file} is not a list of panorama account erasures --json.`));
    const { operators } = await service.get(tokens.storeUseCases);
    const before = new Map((await allAccounts(service)).map(({ account, closedAt }) => [account.id, closedAt]));
    const outcomes = { closed: 0, closed_before: 0, unknown: 0, active: [] as string[] };
    for (const id of listed) {
      // Also one that is closed: what an interrupted run has left is completed.
      const closed = await operators.closeAccount(id);
      if (closed.isErr() && closed.error.kind === "tasks_active") outcomes.active.push(id);
      else if (closed.isErr()) outcomes.unknown += 1;
      else if (before.get(id) === undefined) outcomes.closed += 1;
      else outcomes.closed_before += 1;
    }
    return ok({
      json: outcomes,
      lines: [
        `${outcomes.closed} accounts are closed again, ${outcomes.closed_before} were closed, ${outcomes.unknown} are not in this database`,
        ...outcomes.active.map((id) => `account ${id} has tasks in processing: run this command again when they end`),
      ],
      ...(outcomes.active.length > 0 && { failed: "failed" as const }),
    });
  },
};

const allAccounts = async (service: Service): Promise<readonly AccountSummary[]> => {
  const { operators } = await service.get(tokens.stores);
  const all: AccountSummary[] = [];
  for (let before: AccountId | undefined; ; ) {
    const page = await operators.accounts(PAGE, before);
    all.push(...page);
    before = page.at(-1)?.account.id;
    if (page.length < PAGE) return all;
  }
};

const listSchema = z.object({ erasures: z.array(z.object({ account_id: z.string() })) });

const readErasures = async (file: string): Promise<readonly AccountId[] | undefined> => {
  try {
    const { erasures } = listSchema.parse(JSON.parse(await readFile(file, "utf8")));
    return erasures.map(({ account_id }) => account_id as AccountId);
  } catch {
    return undefined;
  }
};
