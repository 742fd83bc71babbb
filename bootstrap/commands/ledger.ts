import { ok } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import { type LedgerEntry, sumOf } from "../../domain/ledger.js";
import { tokens } from "../tokens.js";
import { type Command, type Output, text } from "./command.js";

export const ledgerShow: Command = {
  words: "ledger show",
  usage: "--account ID",
  options: { account: { type: "string" } },
  required: ["account"],
  run: async (service, values) => {
    const { credits } = await service.get(tokens.storeUseCases);
    const read = await credits.readLedger(text(values, "account") as AccountId);
    return read.map(ledgerOutput).mapErr(({ message }) => message);
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
        ...(entry.kind === "purchase" ? { order_id: entry.orderId } : { task_id: entry.taskId }),
      })),
    },
    lines: [
      ...entries.map(
        (entry) =>
          `${entry.at.toISOString()}  ${String(entry.credits).padStart(8)}  ${entry.kind.padEnd(11)}  ${subject(entry)}`,
      ),
      `${" ".repeat(24)}  ${String(credits).padStart(8)}  remaining`,
    ],
  };
};

const subject = (entry: LedgerEntry): string => (entry.kind === "purchase" ? entry.orderId : entry.taskId);

export const ledgerVerify: Command = {
  words: "ledger verify",
  usage: "",
  options: {},
  required: [],
  run: async (service) => {
    const { credits } = await service.get(tokens.storeUseCases);
    const { accounts, findings } = await credits.verifyLedger();
    return ok({
      json: { accounts, findings },
      lines: [`${accounts} accounts checked, ${findings.length} findings`, ...findings],
      failed: findings.length > 0,
    });
  },
};
