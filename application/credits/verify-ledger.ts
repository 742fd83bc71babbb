import { audit } from "../../domain/ledger.js";
import type { LedgerStore } from "../ports/ledger-store.js";

/** `accounts`: how many were checked. `findings`: one sentence per error, which names the account. */
export type LedgerReport = { readonly accounts: number; readonly findings: readonly string[] };

/** What `verifyLedger` returns. */
export type VerifyLedger = ReturnType<typeof verifyLedger>;

/** Checks every account's ledger against the rules of the domain (domain/ledger.ts). */
export const verifyLedger =
  ({ ledger }: { readonly ledger: Pick<LedgerStore, "all"> }) =>
  async (): Promise<LedgerReport> => {
    const findings: string[] = [];
    let checked = 0;
    for await (const { standing, entries, tasks } of ledger.all()) {
      checked += 1;
      findings.push(...audit(standing, entries, tasks).map((finding) => `account ${standing.accountId}: ${finding}`));
    }
    return { accounts: checked, findings };
  };
