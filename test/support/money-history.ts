import fc from "fast-check";
import { checkoutWebhook, returnWebhook } from "./fake-stripe.js";

/** A part of every id, which `ofRun` replaces, so that runs on one database do not meet. */
const RUN = "RUN";
/** When the payment service has created the first refund, in seconds. */
const CREATED = Math.floor(Date.now() / 1000) - 1_000;

/** All that happens to the money of one order outside of the service. */
type OrderPlan = {
  readonly name: string;
  readonly credits: number;
  readonly priceCents: number;
  /** `before`: the service knows it already when everything else begins. */
  readonly paid: "before" | "meanwhile" | "never";
  readonly refunds: readonly { readonly share: number; readonly fails: boolean }[];
  /** Some accounts of Stripe tell of refunds only by the sum of a charge, and never of one that failed. */
  readonly told: "refunds" | "sums" | "both";
  readonly dispute: "none" | "inquiry" | "open" | "won" | "lost" | "partly_won";
  /** Credits that the operator takes back. */
  readonly byHand: readonly number[];
};
type CustomerPlan = { readonly orders: readonly OrderPlan[]; readonly prompts: readonly string[] };

/** What may happen several times and at any time. */
export type Happening =
  | { readonly kind: "event"; readonly payload: string }
  | { readonly kind: "refund by hand"; readonly order: string; readonly credits: number }
  | { readonly kind: "creation"; readonly customer: number; readonly name: string; readonly prompt: string };

export type MoneyHistory = {
  readonly customers: readonly CustomerPlan[];
  /** All that happens, in no order. */
  readonly happenings: readonly Happening[];
  /** What happens at the same time, and when a process is killed meanwhile. In the last part, none is. */
  readonly parts: readonly { readonly happenings: readonly Happening[]; readonly killAfterMilliseconds: number }[];
};

const orderPlan: fc.Arbitrary<OrderPlan> = fc.record({
  name: fc.constant(""),
  credits: fc.integer({ min: 3, max: 15 }),
  priceCents: fc.integer({ min: 1, max: 1_000 }),
  paid: fc.constantFrom("before", "before", "before", "meanwhile", "meanwhile", "never"),
  refunds: fc.array(fc.record({ share: fc.integer({ min: 1, max: 3 }), fails: fc.boolean() }), { maxLength: 3 }),
  told: fc.constantFrom("refunds", "refunds", "both", "sums"),
  dispute: fc.constantFrom("none", "none", "inquiry", "open", "won", "lost", "partly_won"),
  byHand: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 1 }),
});

const customerPlan: fc.Arbitrary<CustomerPlan> = fc.record({
  orders: fc.array(orderPlan, { minLength: 1, maxLength: 3 }),
  prompts: fc.array(fc.constantFrom("a lake test:plain", "a wood test:plain", "a lake test:fail"), {
    minLength: 1,
    maxLength: 2,
  }),
});

/** Several customers at once. What happens comes twice, once, or only in the end, when what is missing is repeated. */
export const moneyHistory = (customers: number, kills: number): fc.Arbitrary<MoneyHistory> =>
  fc
    .array(customerPlan, { minLength: Math.ceil(customers / 2), maxLength: customers, size: "max" })
    .chain((unnamed) => {
      const plans = unnamed.map(({ orders, prompts }, customer) => ({
        orders: orders.map((order, n) => ({ ...order, name: `${RUN}-${customer}-${n}` })),
        prompts,
      }));
      const happenings = plans.flatMap(happeningsOf);
      const shuffled = fc.shuffledSubarray([...happenings, ...happenings], {
        minLength: Math.ceil(happenings.length / 2),
      });
      const times = fc.array(fc.nat(150), { minLength: 1, maxLength: kills + 1, size: "max" });
      return fc.tuple(shuffled, times).map(([shuffled, times]) => {
        const size = Math.ceil(shuffled.length / times.length);
        const parts = times.map((killAfterMilliseconds, part) => ({
          happenings: shuffled.slice(part * size, (part + 1) * size),
          killAfterMilliseconds,
        }));
        return { customers: plans, happenings, parts };
      });
    });

/** The same with ids of its own. */
export const ofRun = (history: MoneyHistory, run: number): MoneyHistory =>
  JSON.parse(JSON.stringify(history).replaceAll(RUN, String(run))) as MoneyHistory;

const happeningsOf = ({ orders, prompts }: CustomerPlan, customer: number): Happening[] => [
  ...orders.flatMap(happeningsOfOrder),
  ...prompts.map((prompt, n) => ({ kind: "creation" as const, customer, name: `${RUN}-${customer}-${n}`, prompt })),
];

const happeningsOfOrder = (plan: OrderPlan): Happening[] => {
  const session = { metadata: { panorama_order_token: "token-1" }, payment_intent: paymentOf(plan) };
  const paid = checkoutWebhook(plan.name, { session: { ...session, amount_total: plan.priceCents } });
  const events = [...(plan.paid === "never" ? [] : [paid]), ...refundEvents(plan), ...disputeEvents(plan)];
  return [
    ...events.map((payload) => ({ kind: "event" as const, payload })),
    ...plan.byHand.map((credits) => ({ kind: "refund by hand" as const, order: plan.name, credits })),
  ];
};

/** The payment service's id of its payment. */
export const paymentOf = ({ name }: OrderPlan): string => `pi-${name}`;

/** One to three thirds of the price, at least one cent. */
const centsOf = ({ priceCents }: OrderPlan, share: number): number => Math.max(1, Math.floor((priceCents * share) / 3));
const failsIn = ({ told }: OrderPlan, { fails }: { readonly fails: boolean }): boolean => fails && told !== "sums";

/** Refund n is created at second 10 n. One that fails does so after all were created. */
const refundEvents = (plan: OrderPlan): string[] => {
  const { refunds, told, name } = plan;
  const event = (type: string, second: number, object: object) =>
    returnWebhook(type, { payment_intent: paymentOf(plan), ...object }, CREATED + second);
  let sum = 0;
  return refunds.flatMap((refund, n) => {
    const [amount, second] = [centsOf(plan, refund.share), 10 * n];
    sum += amount;
    const object = { id: `re-${name}-${n}`, amount, created: CREATED + second };
    const single = [
      event("refund.created", second, { ...object, status: "pending" }),
      event("refund.updated", second + 2, { ...object, status: "succeeded" }),
      ...(failsIn(plan, refund) ? [event("refund.failed", second + 50, { ...object, status: "failed" })] : []),
    ];
    const all = event("charge.refunded", second + 1, { id: `ch-${name}`, amount_refunded: sum });
    return [...(told === "sums" ? [] : single), ...(told === "refunds" ? [] : [all])];
  });
};

/** What a won dispute returns, if that is not all. */
const reinstatedOf = ({ priceCents }: OrderPlan): number => Math.floor(priceCents / 2);

const disputeEvents = (plan: OrderPlan): string[] => {
  const { dispute, priceCents: amount, name } = plan;
  const event = (type: string, second: number, status: string, ...moved: number[]) => {
    const object = { id: `dp-${name}`, payment_intent: paymentOf(plan), amount, status };
    const balance_transactions = moved.map((amount) => ({ amount }));
    return returnWebhook(`charge.dispute.${type}`, { ...object, balance_transactions }, CREATED + second);
  };
  const opened = [event("created", 1, "needs_response"), event("funds_withdrawn", 1, "needs_response", -amount)];
  switch (dispute) {
    case "none":
      return [];
    case "inquiry":
      return [event("created", 0, "warning_needs_response"), event("closed", 9, "warning_closed")];
    case "open":
      return opened;
    case "lost":
      return [...opened, event("closed", 30, "lost", -amount)];
    case "won":
      return [...opened, event("closed", 30, "won"), event("funds_reinstated", 31, "won", -amount, amount)];
    case "partly_won":
      return [...opened, event("funds_reinstated", 30, "won", -amount, reinstatedOf(plan))];
  }
};

/** The credits that must be taken back in the end of a paid order, of which the operator has taken `byHand`. */
export const expectedTakenBack = (plan: OrderPlan, byHand: number): number => {
  const { credits, priceCents, refunds, dispute } = plan;
  const kept = refunds.filter((refund) => !failsIn(plan, refund));
  const refunded = kept.reduce((sum, { share }) => sum + centsOf(plan, share), 0);
  const isWithdrawn = dispute === "open" || dispute === "lost";
  const withdrawn = isWithdrawn ? priceCents : dispute === "partly_won" ? priceCents - reinstatedOf(plan) : 0;
  return Math.max(byHand, Math.floor((credits * Math.min(priceCents, refunded + withdrawn)) / priceCents));
};
