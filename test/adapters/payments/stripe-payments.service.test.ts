import { ok } from "neverthrow";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anOrderCheckout, aPendingOrder, orderId, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { RecordingReporter } from "../../../adapters/memory/recording-ports.js";
import { StripePayments } from "../../../adapters/payments/stripe-payments.js";
import { SystemClock } from "../../../adapters/system/system-clock.js";
import { reconcilePayments } from "../../../application/credits/payment-reports.js";
import { pay } from "../../../domain/credits/order.js";
import {
  checkoutWebhook,
  FakeStripe,
  returnWebhook,
  STRIPE_SECRETS,
  signedByStripe,
} from "../../support/fake-stripe.js";
import { logIn, visiting } from "../../support/visit.js";
import { WebService } from "../../support/web-service.js";

describe("the service with StripePayments", () => {
  let stripe: FakeStripe;
  let service: WebService;

  beforeAll(async () => {
    stripe = await FakeStripe.start();
    service = await WebService.start(
      new StripePayments(STRIPE_SECRETS, "https://panoramas.example", new SystemClock(), stripe.url),
    );
  });
  afterAll(async () => {
    await service?.end();
    await stripe?.end();
    expect(service?.failures).toEqual([]);
  });

  const statusOf = async (webhook: string, signature = signedByStripe(webhook)) =>
    (
      await visiting(service).send("/payments/stripe", {
        ...{ method: "POST", body: webhook, headers: { "stripe-signature": signature } },
      })
    ).status;
  const send = async (webhook: string) => expect(await statusOf(webhook)).toBe(200);

  it("redirects an order to Stripe and adds its credits once when the webhook arrives three times", async () => {
    const ann = await service.person("ann", 1);
    const placed = await (await logIn(service, ann)).post("/account/orders", { credits: "500" });
    expect(placed.location).toBe("https://checkout.stripe.com/c/pay/cs_test_1");
    const [order] = await service.orders.list(ann.id, 20, undefined);
    expect(order?.state).toBe("pending");
    await send(checkoutWebhook(order?.id ?? "", { session: { id: "cs_other", amount_total: 100 } })); // other product
    await send(checkoutWebhook("ord_unknown")); // Stripe would repeat it after another status
    expect(await service.ledger.balance(ann.id)).toBe(1);

    const metadata = { panorama_order_token: stripe.calls[0]?.fields.get("metadata[panorama_order_token]") };
    const webhook = checkoutWebhook(order?.id ?? "", { session: { amount_total: 3_900, metadata } });
    expect(await statusOf(webhook, signedByStripe(webhook, "whsec_another"))).toBe(400);
    expect(await service.ledger.balance(ann.id)).toBe(1);
    await Promise.all([send(webhook), send(webhook), send(webhook)]);
    expect((await service.ledger.entries(ann.id)).map(({ credits }) => credits)).toEqual([1, 500]);
  });

  it("takes credits back exactly once for webhooks in any order, and reconciles with Stripe", async () => {
    const ben = await service.person("ben", 1);
    const created = Math.floor(Date.now() / 1000);
    const order = aPendingOrder({ id: orderId(77), accountId: ben.id, checkout: anOrderCheckout() });
    await service.orders.insert(order);
    const refund = { id: "re_9", amount: 450, created, payment_intent: "pi_9", status: "succeeded" };
    await send(returnWebhook("refund.created", refund, created));
    await send(returnWebhook("refund.created", { ...refund, id: "re_other", payment_intent: "pi_other" }, created));
    const other = { returnId: "re_other", what: "refund", paymentId: "pi_other", orderId: undefined, credits: 0 };
    expect(service.reporter.of("payment_returned").at(-1)).toEqual({ kind: "payment_returned", ...other });
    const metadata = { panorama_order_token: "token-1" };
    const paid = checkoutWebhook(order.id, { session: { metadata, payment_intent: "pi_9" } });
    for (const webhook of [paid, paid, returnWebhook("refund.updated", refund, created)]) await send(webhook);
    expect(await service.ledger.balance(ben.id)).toBe(51);
    await send(returnWebhook("refund.failed", { ...refund, status: "failed" }, created + 5));
    await send(returnWebhook("refund.updated", refund, created + 6));
    expect(await service.ledger.balance(ben.id)).toBe(101);

    const dispute = { id: "dp_9", amount: 900, payment_intent: "pi_9", status: "lost", created };
    stripe.lists.set("/v1/disputes", [dispute]);
    stripe.lists.set("/v1/refunds", [refund]);
    const session = {
      id: "cs_test_1",
      client_reference_id: order.id,
      payment_status: "paid",
      payment_intent: "pi_9",
      created,
    };
    stripe.lists.set("/v1/checkout/sessions", [{ ...session, amount_total: 900, currency: "usd", metadata }]);
    const { orders } = service;
    const payments = new StripePayments(STRIPE_SECRETS, "https://p.example", new SystemClock(), stripe.url);
    const reconcile = reconcilePayments({
      orders,
      payments,
      clock: new SystemClock(),
      reporter: new RecordingReporter(),
    });
    const from = new Date(created * 1000);
    expect(await reconcile(from)).toEqual(ok({ reports: 3, changes: [{ orderId: order.id, credits: -100 }] }));
    expect(await reconcile(from)).toEqual(ok({ reports: 3, changes: [] }));
    expect(await service.ledger.balance(ben.id)).toBe(1);
    stripe.available = false;
    expect((await reconcile(from)).isErr()).toBe(true);
    stripe.available = true;
  });

  it("compares payments begun before the time, and orders without a payment", async () => {
    const cleo = await service.person("cleo", 1);
    const [day, now] = [24 * 60 * 60, Math.floor(Date.now() / 1000)];
    const metadata = { panorama_order_token: "token-1" };
    const sessionOf = (n: number, created: number) => ({
      ...{ id: "cs_test_1", client_reference_id: orderId(n), payment_status: "paid", payment_intent: `pi_${n}` },
      ...{ amount_total: 900, currency: "usd", metadata, created },
    });
    for (const n of [81, 82]) {
      const order = aPendingOrder({ id: orderId(n), accountId: cleo.id, checkout: anOrderCheckout() });
      await service.orders.insert(order);
      if (n === 82) await service.orders.pay(pay(order, new Date())._unsafeUnwrap()); // before payments were recorded
    }
    // Order 81 was opened the day before and paid since; order 82 is old, and its money has come back now.
    stripe.lists.set("/v1/checkout/sessions", [sessionOf(81, now - day), sessionOf(82, now - 400 * day)]);
    const refund = { id: "re_82", amount: 900, payment_intent: "pi_82", status: "succeeded", created: now };
    stripe.lists.set("/v1/refunds", [refund]);
    await send(returnWebhook("refund.created", refund, now)); // of a payment that is not known yet
    // The clock of this machine is an hour ahead of Stripe's.
    const clock = { now: () => secondsAfter(new Date(), 3600) };
    const dispute = { id: "dp_81", amount: 900, payment_intent: "pi_81", created: now - 100 * day };
    stripe.lists.set("/v1/disputes", [{ ...dispute, status: "needs_response" }]);
    const payments = new StripePayments(STRIPE_SECRETS, "https://p.example", clock, stripe.url);
    const reconcile = reconcilePayments({ orders: service.orders, payments, clock, reporter: new RecordingReporter() });
    const changes = [
      { orderId: orderId(81), credits: 100 },
      { orderId: orderId(82), credits: -100 },
    ];
    expect((await reconcile(new Date(now * 1000)))._unsafeUnwrap().changes).toEqual(changes);
    expect(await service.orders.find(orderId(81))).toMatchObject({ state: "paid", dispute: "open" });
    expect(await service.orders.find(orderId(82))).toMatchObject({ state: "refunded", paymentId: "pi_82" });
    const won = returnWebhook("charge.dispute.closed", { ...dispute, status: "won" }, now + 60);
    await send(won);
    expect(await service.orders.find(orderId(81))).toMatchObject({ dispute: "won" });
  });
});
