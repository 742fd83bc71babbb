import type { Credits, CreditTotals } from "../../domain/credits/credits.js";
import { type LedgerAudit, startAudit } from "../../domain/credits/ledger-audit.js";
import type { EntryPlace } from "../../domain/credits/ledger-page.js";
import type { AccountId } from "../../domain/ids.js";
import { type EntryPage, readEntryPage } from "../page-of.js";
import type { LedgerPart, LedgerStore } from "../ports/stores/ledger-store.js";

/** The account's remaining credits, without reserved ones. */
export const readBalance =
  ({ ledger }: { readonly ledger: Pick<LedgerStore, "balance"> }) =>
  (owner: AccountId): Promise<Credits> =>
    ledger.balance(owner);

/** `GET /credits`: the account's remaining, reserved and spent credits. */
export const readCreditTotals =
  ({ ledger }: { readonly ledger: Pick<LedgerStore, "totals"> }) =>
  (owner: AccountId): Promise<CreditTotals> =>
    ledger.totals(owner);

/**
 * `GET /credits/entries`: entries of the account's ledger, newest first, each with the balance after it. The newest
 * `balanceAfter` is the account's balance. Entries and their balances never change.
 */
export const listEntries =
  ({ ledger }: { readonly ledger: Pick<LedgerStore, "list"> }) =>
  (owner: AccountId, limit: number, before?: EntryPlace): Promise<EntryPage> =>
    readEntryPage(ledger, owner, limit, before);

/**
 * `accounts`: number of checked accounts. `findings`: one sentence per error, with the account. For an account with
 * unreadable rows, only these rows are reported.
 */
type LedgerReport = {
  readonly accounts: number;
  readonly findings: readonly string[];
};

/** Checks every account's ledger against the rules of the domain (domain/credits/ledger-audit.ts), a part at a time. */
export const verifyLedger =
  ({ ledger }: { readonly ledger: Pick<LedgerStore, "walk"> }) =>
  /** `checked` is called after each account. */
  async (checked: (accounts: number) => void = () => {}): Promise<LedgerReport> => {
    const findings: string[] = [];
    const audits = new Map<AccountId, LedgerAudit>();
    const damaged = new Set<AccountId>();
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
          damaged.add(accountId);
          find(accountId, part.detail);
          break;
        case "end":
          // The sums need the unreadable rows.
          if (!damaged.has(accountId)) for (const finding of audit?.finish() ?? []) find(accountId, finding);
          audits.delete(accountId);
          accounts += 1;
          checked(accounts);
      }
    };
    await ledger.walk(visit);
    return { accounts, findings };
  };
