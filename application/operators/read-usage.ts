import type { CreditPacks } from "../../domain/credits/credit-pack.js";
import type { GenerationCost } from "../../domain/tasks/generation-cost.js";
import type { UsageLine, UsageQuery, UsageStore } from "../ports/stores/usage-store.js";

/** The tasks of one part of a report: how many they were, what was charged for them, and what they cost. */
export type Usage = Omit<UsageLine, "currency" | "micros"> & {
  /** In each currency, as far as it is known. */
  readonly costs: readonly GenerationCost[];
  /** Panoramas that succeeded whose cost is not known. */
  readonly withoutCost: number;
  /**
   * The charged credits at the pack with the lowest price per credit, less the costs; it may be negative. `undefined`
   * if a cost is not known, or is in another currency than the packs.
   */
  readonly margin: GenerationCost | undefined;
};

/** `rows`: by the part, in its order; those without one are last. */
export type UsageReport = { readonly rows: readonly Usage[]; readonly total: Usage };

/** For the operator: what was made in a period, in credits as the ledger has them, and what it cost. */
export const readUsage =
  ({ usage }: { readonly usage: UsageStore }, { policy }: { readonly policy: { readonly packs: CreditPacks } }) =>
  async (query: UsageQuery): Promise<UsageReport> => {
    const lines = await usage.usage(query);
    const linesOf = new Map<string | undefined, UsageLine[]>();
    for (const line of lines) linesOf.set(line.part, [...(linesOf.get(line.part) ?? []), line]);
    const parts = [...linesOf].sort(([a], [b]) => order(a, b));
    return {
      rows: parts.map(([part, own]) => sumOf(part, own, policy.packs)),
      total: sumOf(undefined, lines, policy.packs),
    };
  };

const order = (a: string | undefined, b: string | undefined): number => {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a < b ? -1 : Number(a > b);
};

const sumOf = (part: string | undefined, lines: readonly UsageLine[], packs: CreditPacks): Usage => {
  const sum = (of: (line: UsageLine) => number): number => lines.reduce((total, line) => total + of(line), 0);
  const currencies = [...new Set(lines.flatMap(({ currency }) => currency ?? []))].sort();
  const charged = sum((line) => line.charged);
  const costs = currencies.map((currency) => ({
    currency,
    micros: sum((line) => (line.currency === currency ? line.micros : 0)),
  }));
  const withoutCost = sum((line) => (line.currency === undefined ? line.succeeded : 0));
  return {
    part,
    succeeded: sum((line) => line.succeeded),
    failed: sum((line) => line.failed),
    active: sum((line) => line.active),
    charged,
    refunded: sum((line) => line.refunded),
    held: sum((line) => line.held),
    costs,
    withoutCost,
    margin: withoutCost > 0 ? undefined : marginOf(charged, costs, packs),
  };
};

const MICROS_PER_CENT = 10_000;

const marginOf = (charged: number, costs: readonly GenerationCost[], packs: CreditPacks) => {
  const [{ currency }] = packs;
  // A provider that costs nothing has no currency.
  const paid = costs.filter(({ micros }) => micros > 0);
  if (paid.some((cost) => cost.currency !== currency)) return undefined;
  const centsPerCredit = Math.min(...packs.map(({ priceCents, credits }) => priceCents / credits));
  const revenue = Math.round(charged * centsPerCredit * MICROS_PER_CENT);
  return { currency, micros: revenue - paid.reduce((total, { micros }) => total + micros, 0) };
};
