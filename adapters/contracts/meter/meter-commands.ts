import fc from "fast-check";

/** Time by which the clocks of the other processes are ahead: more than any lease or window of the policy. */
export const AHEAD_MILLISECONDS = [90_000, -90_000];

/** `process`: the number of the one that runs it. */
export type MeterCommand = (
  | {
      readonly do: "hold";
      readonly price: "draft" | "print";
      readonly quantity?: number;
      readonly rate?: "render";
      readonly key?: string;
    }
  | { readonly do: "capture"; readonly nth: number; readonly part?: number }
  | { readonly do: "refund" | "renew"; readonly nth: number }
  | { readonly do: "refundLater"; readonly nth: number; readonly part?: number; readonly key: string }
  | { readonly do: "adjust"; readonly credits: number; readonly allowDebt: boolean; readonly key: string }
  | { readonly do: "purchase"; readonly order: number }
  | { readonly do: "wait"; readonly milliseconds: number }
) & { readonly process: number };

const correctionKey = fc.constantFrom("k1", "k2", "k3", "k4");
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("hold" as const),
      price: fc.constantFrom("draft" as const, "print" as const),
      quantity: fc.constantFrom(undefined, undefined, 1, 2),
      rate: fc.constantFrom("render" as const, undefined),
      key: fc.constantFrom("a", "b", undefined, undefined),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("capture"),
      nth: fc.nat(5),
      part: fc.constantFrom(undefined, undefined, 0, 1, 2),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("refund", "refund", "renew"), nth: fc.nat(5) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("refundLater"),
      nth: fc.nat(5),
      part: fc.constantFrom(undefined, 0, 1, 2),
      key: correctionKey,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("adjust"),
      credits: fc.integer({ min: -6, max: 3 }),
      allowDebt: fc.boolean(),
      key: correctionKey,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("purchase" as const), order: fc.nat(2) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("wait" as const),
      milliseconds: fc.constantFrom(1, 500, 4_999, 9_999, 10_000, 19_999, 20_000, 3_600_000),
    }),
  },
);
/** A random one. */
export const meterCommand = fc
  .tuple(action, fc.nat(AHEAD_MILLISECONDS.length))
  .map(([action, process]) => ({ ...action, process }) as MeterCommand);
