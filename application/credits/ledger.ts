import type { Credits, CreditTotals } from "../../domain/credits/credits.js";
import { type LedgerAudit, startAudit } from "../../domain/credits/ledger-audit.js";
import type { EntryPlace } from "../../domain/credits/ledger-page.js";
import type { AccountId } from "../../domain/ids.js";
import { pageOf } from "../page-of.js";
import type { LedgerLine, LedgerPart, LedgerStore } from "../ports/stores/ledger-store.js";

/** An entry with the balance after it, in credits. `apiKeyId`: the key that created its task. */
export type EntryLine = Pick<LedgerLine, "entry" | "apiKeyId"> & { readonly balanceAfter: number };

/** `next`: cursor of the next page; `undefined` on the last one. */
export type EntryPage = { readonly entries: readonly EntryLine[]; readonly next: EntryPlace | undefined };

/**
 * `accounts`: number of checked accounts. `findings`: one sentence per error, with the account. For an account with
 * unreadable rows, only these rows are reported.
 */
type LedgerReport = {
  readonly accounts: number;
  readonly findings: readonly string[];
};

/** The ledger: balances, entries, and the audit. */
export function ledger(ports: { readonly ledger: LedgerStore }) {
  return {
    /** The account's credits that are neither spent nor reserved. Throws if the account does not exist. */
    readBalance(account: AccountId): Promise<Credits> {
      return ports.ledger.balance(account);
    },

    /** Remaining, reserved and spent credits, in one snapshot. Throws if the account does not exist. */
    readTotals(account: AccountId): Promise<CreditTotals> {
      return ports.ledger.totals(account);
    },

    /**
     * `GET /credits/entries`: entries of the account's ledger, newest first, each with the balance after it. The newest
     * `balanceAfter` is the account's balance. Entries and their balances never change.
     */
    listEntries(owner: AccountId, limit: number, before?: EntryPlace): Promise<EntryPage> {
      return readEntries(ports.ledger, owner, limit, before);
    },

    /**
     * Checks every account's ledger against the rules of the domain (domain/credits/ledger-audit.ts), a part at a time.
     * `checked` is called after each account.
     */
    async verifyLedger(checked: (accounts: number) => void = () => {}): Promise<LedgerReport> {
      const findings: string[] = [];
      const audits = new Map<AccountId, LedgerAudit>();
      let accounts = 0;
      const find = (accountId: AccountId, finding: string) => findings.push(`account ${accountId}: ${finding}`);
      const visit = (part: LedgerPart): void => {
        const { accountId } = part;
        const audit = audits.get(accountId);
        switch (part.kind) {
          case "standing":
            audits.set(accountId, startAudit(part.standing));
            break;
          case "tasks":
            audit?.addTasks(part.tasks, part.entries);
            break;
          case "entries":
            audit?.addEntries(part.entries);
            break;
          case "orders":
            audit?.addOrders(part.orders);
            break;
          case "unreadable":
            audits.delete(accountId); // its sums need this row
            find(accountId, part.detail);
            break;
          case "end":
            for (const finding of audit?.finish() ?? []) find(accountId, finding);
            audits.delete(accountId);
            accounts += 1;
            checked(accounts);
        }
      };
      await ports.ledger.walk(visit);
      return { accounts, findings };
    },
  };
}

/** `listEntries` of this store. */
export async function readEntries(
  ledger: LedgerStore,
  owner: AccountId,
  limit: number,
  before?: EntryPlace,
): Promise<EntryPage> {
  const found = await ledger.list(owner, limit + 1, before?.entry);
  let balance = before?.balance ?? found[0]?.balance ?? 0;
  const lines = found.map(({ cursor, entry, apiKeyId }) => {
    const balanceAfter = balance;
    balance -= entry.credits;
    return { line: { entry, apiKeyId, balanceAfter }, older: { entry: cursor, balance } };
  });
  const { items, last } = pageOf(lines, limit);
  return { entries: items.map(({ line }) => line), next: last?.older };
}
