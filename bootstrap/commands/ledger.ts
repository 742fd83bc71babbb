import { ok } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import { type LedgerEntry, sumOf } from "../../domain/ledger.js";
import { tokens } from "../tokens.js";
import { ACCOUNT, type Command, type Output, text } from "./command.js";
import { notFound } from "./command-error.js";

export const ledgerShow: Command = {
  words: "ledger show",
  about: "Lists the ledger entries of an account, oldest first.",
  usage: "--account ID",
  options: ACCOUNT,
  required: ["account"],
  example: "ledger show --account acc_…",
  run: async (service, values) => {
    const { credits } = await service.get(tokens.storeUseCases);
    const read = await credits.readLedger(text(values, "account") as AccountId);
    return read.map(ledgerOutput).mapErr(({ message }) => notFound(message));
  },
};

const ledgerOutput = (entries: readonly LedgerEntry[]): Output => {
  const credits = sumOf(entries);
  return {
    json: {
      remaining_credits: credits,
      entries: entries.map((entry) => ({
        kind: entry.kind,
        credits: entry.credits,
        at: entry.at.toISOString(),
        ...subjectOf(entry),
      })),
    },
    lines: [
      ...entries.map(
        (entry) =>
          `${entry.at.toISOString()}  ${String(entry.credits).padStart(8)}  ${entry.kind.padEnd(11)}  ${Object.values(subjectOf(entry)).join()}`,
      ),
      `${" ".repeat(24)}  ${String(credits).padStart(8)}  remaining`,
    ],
  };
};

const subjectOf = (entry: LedgerEntry) => {
  switch (entry.kind) {
    case "purchase":
      return { order_id: entry.orderId };
    case "adjustment":
      return { reason: entry.reason };
    case "reservation":
    case "refund":
      return { task_id: entry.taskId };
  }
};

export const ledgerVerify: Command = {
  words: "ledger verify",
  about: "Checks the ledger of every account. Findings give exit status 1.",
  usage: "",
  options: {},
  required: [],
  example: "ledger verify",
  run: async (service) => {
    const { credits } = await service.get(tokens.storeUseCases);
    const { accounts, findings } = await credits.verifyLedger();
    return ok({
      json: { accounts, findings },
      lines: [`${accounts} accounts checked, ${findings.length} findings`, ...findings],
      ...(findings.length > 0 && { failed: "failed" }),
    });
  },
};
