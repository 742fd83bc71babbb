import { audit } from "../../domain/ledger.js";
import type { AccountStore } from "../ports/account-store.js";

/** `findings`: one sentence for everything that is wrong, with its account; empty if all ledger are right. */
export type LedgerReport = { readonly accounts: number; readonly findings: readonly string[] };

/** Checks every account's ledger against the rules of the domain (ledger.ts). */
export const verifyLedger =
  ({ accounts }: { readonly accounts: AccountStore }) =>
  async (): Promise<LedgerReport> => {
    const findings: string[] = [];
    let checked = 0;
    for await (const { standing, entries, tasks } of accounts.ledgers()) {
      checked += 1;
      findings.push(...audit(standing, entries, tasks).map((finding) => `account ${standing.accountId}: ${finding}`));
    }
    return { accounts: checked, findings };
  };
