import { ok, safeTry } from "neverthrow";
import { pageOf } from "../../../application/page-of.js";
import { parseAdjustmentReason } from "../../../domain/credits/adjustment.js";
import { type Order, type OrderId, parseOrderCredits, priceOf } from "../../../domain/credits/order.js";
import type { AccountId } from "../../../domain/ids.js";
import { refused } from "../../command-error.js";
import { tokens } from "../../tokens.js";
import { ACCOUNT, type Command, fromOf, optionalText, textOf } from "../common/command.js";
import { invalidOption } from "../common/invalid-option.js";
import { LIMIT, limitOf, nextLine } from "../common/page.js";

export const orderCreate: Command = {
  words: "order create",
  about: "Creates an order for credits. The credits are added when the order is paid.",
  usage: "--account ID --credits N [--paid]",
  options: {
    ...ACCOUNT,
    credits: { type: "string", about: "1 to 1000000" },
    paid: { type: "boolean", about: "mark the order as paid" },
  },
  required: ["account", "credits"],
  example: "order create --account acc_… --credits 100 --paid",
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const credits = yield* parseOrderCredits(Number(textOf(values, "credits"))).mapErr(invalidOption);
      const { credits: orders } = await service.get(tokens.storeUseCases);
      const created = await orders.createOrder(textOf(values, "account") as AccountId, credits);
      const { id } = yield* created;
      if (values.paid !== true) return ok(orderOutput(id, "pending"));
      yield* await orders.payOrder(id);
      return ok(orderOutput(id, "paid"));
    }),
};

export const orderPay: Command = {
  words: "order pay",
  about: "Marks an order as paid and adds its credits. Repeating it adds nothing.",
  usage: "--order ID",
  options: { order: { type: "string", about: "id of the order" } },
  required: ["order"],
  example: "order pay --order ord_…",
  isRecorded: true,
  run: async (service, values) => {
    const { credits } = await service.get(tokens.storeUseCases);
    const paid = await credits.payOrder(textOf(values, "order") as OrderId);
    return paid.map(({ id, state }) => orderOutput(id, state));
  },
};

const orderOutput = (id: OrderId, status: Order["state"]) => ({
  json: { order_id: id, status },
  lines: [`order ${id} is ${status}`],
});

export const orderRefund: Command = {
  words: "order refund",
  about:
    "Removes credits of a paid order that you refund outside Stripe. Credits that are already spent become a debt.",
  usage: "--order ID [--credits N] --reason TEXT",
  options: {
    order: { type: "string", about: "id of the order" },
    credits: { type: "string", about: "number of credits; default: all that are left" },
    reason: { type: "string", about: "shown to the account owner, 1 to 200 characters" },
  },
  required: ["order", "reason"],
  example: 'order refund --order ord_… --reason "Returned by bank transfer"',
  isRecorded: true,
  run: (service, values) =>
    safeTry(async function* () {
      const id = textOf(values, "order") as OrderId;
      const given = optionalText(values, "credits");
      const amount = given === undefined ? undefined : yield* parseOrderCredits(Number(given)).mapErr(invalidOption);
      const reason = yield* parseAdjustmentReason(textOf(values, "reason")).mapErr(invalidOption);
      const { operators } = await service.get(tokens.storeUseCases);
      const refunded = yield* (await operators.refundOrder(id, amount, reason)).mapErr((error) => {
        switch (error.kind) {
          case "not_found":
            return error;
          case "not_paid":
            return refused(`Order ${id} is not paid, so there is nothing to take back.`);
          case "too_many_credits":
            return refused(`Of order ${id}, ${error.left} credits are left that can be taken back by hand.`);
        }
      });
      const { ledger } = await service.get(tokens.stores);
      const { remaining, debt = 0 } = await ledger.totals(refunded.accountId);
      const { paymentId } = refunded;
      return ok({
        json: { ...orderJson(refunded), remaining_credits: remaining, debt },
        lines: [
          `order ${id} is ${refunded.state}: ${takenBackOf(refunded)} of ${refunded.credits} credits taken back`,
          `account ${refunded.accountId} has ${remaining} credits now${debt > 0 ? `, and a debt of ${debt}` : ""}`,
          ...(paymentId === undefined
            ? []
            : [`this moves no money: return payment ${paymentId} in Stripe, or otherwise`]),
        ],
      });
    }),
};

export const orderList: Command = {
  words: "order list",
  about: "Lists orders, newest first.",
  usage: "[--pending] [--account ID] [--from DATE] [--limit N] [--before ID]",
  options: {
    pending: { type: "boolean", about: "only unpaid orders" },
    ...ACCOUNT,
    from: { type: "string", about: "only orders from this day (UTC) on, such as 2026-05-03" },
    ...LIMIT,
    before: { type: "string", about: "only orders older than this one" },
  },
  required: [],
  example: "order list --pending",
  run: (service, values) =>
    safeTry(async function* () {
      const limit = yield* limitOf(values);
      const from = yield* fromOf(values);
      const filter = {
        account: optionalText(values, "account") as AccountId | undefined,
        isPending: values.pending === true,
        from,
      };
      const before = optionalText(values, "before") as OrderId | undefined;
      const { orders } = await service.get(tokens.stores);
      const { items, last } = pageOf(await orders.listAll(filter, limit + 1, before), limit);
      return ok({
        json: { orders: items.map(orderJson), next: last?.id ?? null },
        lines: [...items.map(orderLine), ...nextLine(last?.id)],
      });
    }),
};

const takenBackOf = (order: Order): number => (order.state === "pending" ? 0 : (order.takenBack ?? 0));
const disputeOf = (order: Order) => (order.state === "pending" ? "none" : (order.dispute ?? "none"));

const orderJson = (order: Order) => ({
  order_id: order.id,
  account_id: order.accountId,
  status: order.state,
  credits: order.credits,
  created_at: order.createdAt.toISOString(),
  paid_at: order.state === "pending" ? null : order.paidAt.toISOString(),
  price_cents: priceOf(order)?.priceCents ?? null,
  currency: priceOf(order)?.currency ?? null,
  checkout_session: order.checkout?.sessionId ?? null,
  payment_id: order.paymentId ?? null,
  credits_taken_back: takenBackOf(order),
  dispute: disputeOf(order),
  return_reason: (order.state === "pending" ? undefined : order.returnReason) ?? null,
});

const priceText = (order: Order): string => {
  const price = priceOf(order);
  return price === undefined ? "no price" : `${(price.priceCents / 100).toFixed(2)} ${price.currency}`;
};

const orderLine = (order: Order): string =>
  [
    order.createdAt.toISOString(),
    order.id,
    order.accountId,
    `${order.credits} credits`,
    priceText(order),
    order.state,
    ...(takenBackOf(order) > 0 ? [`${takenBackOf(order)} taken back`] : []),
    ...(disputeOf(order) === "none" ? [] : [`dispute ${disputeOf(order)}`]),
    order.paymentId ?? order.checkout?.sessionId ?? "no payment service",
  ].join("  ");
