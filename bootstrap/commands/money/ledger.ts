import { err, ok, safeTry } from "neverthrow";
import { notFound } from "../../../application/errors.js";
import { pageOf } from "../../../application/page-of.js";
import type { LedgerLine } from "../../../application/ports/stores/ledger-store.js";
import type { LedgerEntry } from "../../../domain/credits/ledger.js";
import { type LedgerCursor, parseLedgerCursor } from "../../../domain/credits/ledger-page.js";
import type { AccountId } from "../../../domain/ids.js";
import { misused } from "../../command-error.js";
import { tokens } from "../../tokens.js";
import { ACCOUNT, type Command, type Output, optionalText, textOf } from "../common/command.js";
import { LIMIT, limitOf, nextLine } from "../common/page.js";

export const ledgerShow: Command = {
  words: "ledger show",
  about: "Prints the balance and the newest ledger entries of an account, in order of time.",
  usage: "--account ID [--limit N] [--before NUMBER]",
  options: { ...ACCOUNT, ...LIMIT, before: { type: "string", about: "only entries older than this number" } },
  required: ["account"],
  example: "ledger show --account acc_…",
  run: (service, values) =>
    safeTry(async function* () {
      const limit = yield* limitOf(values);
      const given = optionalText(values, "before");
      const before = given === undefined ? undefined : parseLedgerCursor(given);
      if (given !== undefined && before === undefined) return err(misused("--before must be the number of an entry."));
      const account = textOf(values, "account") as AccountId;
      const { accounts } = await service.get(tokens.stores);
      if (!(await accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
      const { ledger } = await service.get(tokens.stores);
      const { items, last } = pageOf(await ledger.list(account, limit + 1, before), limit);
      return ok(ledgerOutput(await ledger.balance(account), items.toReversed(), last?.cursor));
    }),
};

const ledgerOutput = (credits: number, lines: readonly LedgerLine[], next: LedgerCursor | undefined): Output => ({
  json: {
    remaining_credits: credits,
    entries: lines.map(({ entry }) => ({
      kind: entry.kind,
      credits: entry.credits,
      at: entry.at.toISOString(),
      ...subjectOf(entry),
    })),
    next: next ?? null,
  },
  lines: [
    ...nextLine(next),
    ...lines.map(
      ({ entry }) =>
        `${entry.at.toISOString()}  ${String(entry.credits).padStart(8)}  ${entry.kind.padEnd(16)}  ${Object.values(subjectOf(entry)).join()}`,
    ),
    `${" ".repeat(24)}  ${String(credits).padStart(8)}  remaining`,
  ],
});

const subjectOf = (entry: LedgerEntry) => {
  switch (entry.kind) {
    case "debt":
      return {};
    case "purchase":
    case "payment_refund":
    case "payment_restored":
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
  about:
    "Checks every account's ledger: the balance is the sum of its entries and not negative, and every task has the entries of its state. Works beside a running service. Findings and unreadable rows give exit status 1.",
  usage: "",
  options: {},
  required: [],
  example: "ledger verify",
  run: async (service) => {
    const { credits } = await service.get(tokens.storeUseCases);
    const { accounts, findings } = await credits.verifyLedger(progressOf("accounts checked"));
    endProgress();
    return ok({
      json: { accounts, findings },
      lines: [`${accounts} accounts checked, ${findings.length} findings`, ...findings],
      ...(findings.length > 0 && { failed: "failed" }),
    });
  },
};

const PAUSE_MILLISECONDS = 250;

/** Shows on a terminal how far a long command is, on standard error: `count` so far, of `what`. */
const progressOf = (what: string): ((count: number) => void) => {
  if (!process.stderr.isTTY) return () => {};
  let shownAt = performance.now();
  return (count) => {
    const now = performance.now();
    if (now - shownAt < PAUSE_MILLISECONDS) return;
    shownAt = now;
    process.stderr.write(`\r${count} ${what}`);
  };
};

/** Before the result is printed: the next line begins at the left again. */
const endProgress = (): void => {
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[2K");
};
