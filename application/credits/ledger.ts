import type { Credits, CreditTotals } from "../../domain/credits/credits.js";
import { type LedgerAudit, startAudit } from "../../domain/credits/ledger-audit.js";
import type { EntryPlace } from "../../domain/credits/ledger-page.js";
import type { AccountId } from "../../domain/ids.js";
import { type EntryPage, listEntries } from "../list-entries.js";
import type { LedgerPart, LedgerStore } from "../ports/stores/ledger-store.js";

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

    /** `GET /credits/entries` (list-entries.ts). */
    listEntries(owner: AccountId, limit: number, before?: EntryPlace): Promise<EntryPage> {
      return listEntries(ports.ledger, owner, limit, before);
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
