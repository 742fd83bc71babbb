import { type LedgerAudit, startAudit } from "../../domain/credits/ledger.js";
import type { AccountId } from "../../domain/ids.js";
import type { LedgerPart, LedgerStore } from "../ports/stores/ledger-store.js";

/**
 * `accounts`: how many were checked. `findings`: one sentence per error, which names the account. A row that cannot be
 * read is a finding; those of an account with such a row are its only ones.
 */
export type LedgerReport = {
  readonly accounts: number;
  readonly findings: readonly string[];
};

/** Checks every account's ledger against the rules of the domain (domain/credits/ledger.ts), a part at a time. */
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
          audit?.tasks(part.tasks, part.entries);
          break;
        case "entries":
          audit?.entries(part.entries);
          break;
        case "orders":
          audit?.orders(part.orders);
          break;
        case "unreadable":
          damaged.add(accountId);
          find(accountId, part.detail);
          break;
        case "end":
          // The sums are unknown without the rows that cannot be read.
          if (!damaged.has(accountId)) for (const finding of audit?.end() ?? []) find(accountId, finding);
          audits.delete(accountId);
          accounts += 1;
          checked(accounts);
      }
    };
    await ledger.walk(visit);
    return { accounts, findings };
  };
