import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aPendingOrder, orderId, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { StripePayments } from "../../../adapters/payments/stripe-payments.js";
import { SystemClock } from "../../../adapters/system/system-clock.js";
import type { Email } from "../../../domain/accounts/account.js";
import { CREDIT_PACKS } from "../../../domain/credits/order.js";
import {
  checkoutWebhook,
  FakeStripe,
  returnWebhook,
  STRIPE_SECRETS,
  signedByStripe,
} from "../../support/fake-stripe.js";

describe("StripePayments", () => {
  let stripe: FakeStripe;
  let payments: StripePayments;

  beforeEach(async () => {
    stripe = await FakeStripe.start();
    payments = new StripePayments(STRIPE_SECRETS, "https://panoramas.example", new SystemClock(), stripe.url);
  });
  afterEach(() => stripe.end());

  const order = aPendingOrder();
  const [pack] = CREDIT_PACKS;
  const email = "ann@example.com" as Email;

  it("opens a checkout session with the order's id, price and customer", async () => {
    const { id, token, url } = (await payments.checkout(order, pack, email))._unsafeUnwrap();
    expect([id, url]).toEqual(["cs_test_1", "https://checkout.stripe.com/c/pay/cs_test_1"]);
    const second = (await payments.checkout(order, pack, email))._unsafeUnwrap();
    expect(second.token).not.toBe(token);
    const [call] = stripe.calls;
    expect(call).toMatchObject({ method: "POST", path: "/v1/checkout/sessions" });
    expect(call?.headers).toMatchObject({ authorization: "Bearer sk_test_secret", "idempotency-key": order.id });
    expect(Object.fromEntries(call?.fields ?? [])).toEqual({
      mode: "payment",
      client_reference_id: order.id,
      "metadata[panorama_order_token]": token,
      customer_email: email,
      "line_items[0][quantity]": "1",
      "line_items[0][price_data][currency]": "usd",
      "line_items[0][price_data][unit_amount]": "900",
      "line_items[0][price_data][product_data][name]": "100 panorama credits",
      success_url: "https://panoramas.example/account?order=paid",
      cancel_url: "https://panoramas.example/account",
    });
  });

  it("returns payments_unavailable with Stripe's message when Stripe fails", async () => {
    stripe.available = false;
    expect(await payments.checkout(order, pack, email)).toEqual(
      err({ kind: "payments_unavailable", reason: "we are down" }),
    );
  });

  it.each([
    ["is open", {}],
    ["is paid", { isPaid: true }],
    ["cannot be reached", { available: false }],
  ])("expires a session, once, and does not reject when it %s", async (_, state) => {
    Object.assign(stripe, state);
    expect(await payments.expire("cs_test_1")).toBeUndefined();
    expect(stripe.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /v1/checkout/sessions/cs_test_1/expire",
    ]);
  });

  it("returns the payment of a webhook that Stripe signed", () => {
    const session = { metadata: { panorama_order_token: "token-1", other: "of another program" } };
    const webhook = checkoutWebhook(order.id, { session });
    const payment = {
      orderId: order.id,
      sessionId: "cs_test_1",
      token: "token-1",
      amountCents: 900,
      currency: "USD",
    };
    expect(payments.payment(Buffer.from(webhook), signedByStripe(webhook))).toEqual(ok(payment));
    const late = checkoutWebhook(order.id, { type: "checkout.session.async_payment_succeeded", session });
    expect(payments.payment(Buffer.from(late), signedByStripe(late))).toEqual(ok(payment));
  });

  it("returns a payment without the fields that its session lacks", () => {
    for (const metadata of [null, {}, { panorama_order_token: 7 }]) {
      const webhook = checkoutWebhook(order.id, { session: { metadata, amount_total: null, currency: null } });
      const nothing = { token: undefined, amountCents: undefined, currency: undefined };
      expect(payments.payment(Buffer.from(webhook), signedByStripe(webhook))).toEqual(
        ok({ orderId: order.id, sessionId: "cs_test_1", ...nothing }),
      );
    }
  });

  it("returns no order for an unpaid session or another type of webhook", () => {
    for (const webhook of [
      checkoutWebhook(order.id, { paymentStatus: "unpaid" }),
      checkoutWebhook(order.id, { type: "checkout.session.expired" }),
      checkoutWebhook(order.id, { type: "customer.created" }),
    ]) {
      expect(payments.payment(Buffer.from(webhook), signedByStripe(webhook))).toEqual(ok(undefined));
    }
  });

  it.each([
    ["no JSON", "not JSON"],
    ["an empty body of JSON", "null"],
    ["a list", "[]"],
    ["an event without data", '{"type":"checkout.session.completed"}'],
    ["an order that is no text", checkoutWebhook(order.id).replace(`"${order.id}"`, '{"toString":1}')],
    ["an order that can be none", checkoutWebhook("../../\\u0000")],
    ["a thin event", '{"object":"v2.core.event"}'],
  ])("returns no order for a signed webhook with %s", (_, webhook) => {
    expect(payments.payment(Buffer.from(webhook), signedByStripe(webhook))).toEqual(ok(undefined));
  });

  const webhook = checkoutWebhook(order.id);
  it.each([
    ["is empty", "", webhook],
    ["has an empty signature", "t=1,v1=", webhook],
    ["has a short signature", "t=1,v1=00", webhook],
    ["has 64 characters that are more bytes", `t=1,v1=${"é".repeat(64)}`, webhook],
    ["has a signature without a value", "t=1,v1", webhook],
    ["has no time", `v1=${"0".repeat(64)}`, webhook],
    ["is forged", signedByStripe(webhook, "whsec_another"), webhook],
    ["is of another text", signedByStripe(webhook), webhook.replace("paid", "PAID")],
    ["is older than Stripe's tolerance", signedByStripe(webhook, STRIPE_SECRETS.webhookSecret, 3600), webhook],
  ])("rejects a webhook whose signature %s", (_, header, body) => {
    const forged = err({ kind: "unverified_webhook", reason: "The signature is invalid." });
    expect(payments.payment(Buffer.from(body), header)).toEqual(forged);
  });

  it("compares the age of a webhook with its clock, not with the machine's", () => {
    const anHourAgo = { now: () => secondsAfter(new Date(), -3600) };
    const behind = new StripePayments(STRIPE_SECRETS, "https://panoramas.example", anHourAgo, stripe.url);
    const signature = signedByStripe(webhook, STRIPE_SECRETS.webhookSecret, 3600);
    expect(behind.payment(Buffer.from(webhook), signature)._unsafeUnwrap()).toMatchObject({ orderId: order.id });
  });

  it("lists what was paid and came back since a time, with the older payments that it belongs to", async () => {
    const [day, now] = [24 * 60 * 60, Math.floor(Date.now() / 1000)];
    const sessionOf = (n: number, created: number, payment_status = "paid") => ({
      ...{ id: `cs_${n}`, client_reference_id: orderId(n), payment_status, payment_intent: `pi_${n}` },
      ...{ amount_total: 900, currency: "usd", metadata: null, created },
    });
    stripe.lists.set("/v1/checkout/sessions", [
      sessionOf(1, now - day), // opened the day before and paid since
      sessionOf(2, now - 400 * day), // its money has come back now
      sessionOf(3, now, "unpaid"),
      sessionOf(4, now - 31 * day),
    ]);
    const returned = { amount: 900, status: "succeeded" };
    stripe.lists.set("/v1/refunds", [
      { ...returned, id: "re_2", payment_intent: "pi_2", created: now },
      { ...returned, id: "re_4", payment_intent: "pi_4", created: now - 61 * day },
    ]);
    const dispute = { id: "dp_1", amount: 900, payment_intent: "pi_1", created: now - 100 * day };
    stripe.lists.set("/v1/disputes", [{ ...dispute, status: "needs_response" }]);
    // The clock of this machine is an hour ahead of Stripe's.
    const ahead = { now: () => secondsAfter(new Date(), 3600) };
    const checked = new StripePayments(STRIPE_SECRETS, "https://panoramas.example", ahead, stripe.url);
    const reports = (await checked.since(new Date(now * 1000)))._unsafeUnwrap();
    expect(reports).toMatchObject([
      { orderId: orderId(1), sessionId: "cs_1", paymentId: "pi_1", amountCents: 900, currency: "USD" },
      { orderId: orderId(2), sessionId: "cs_2", paymentId: "pi_2" },
      { paymentId: "pi_2", returned: { id: "re_2", kind: "refund", cents: 900 } },
      { paymentId: "pi_1", returned: { id: "dp_1", kind: "dispute", state: "open" } },
    ]);
    // By Stripe's clock, so that what its webhooks tell afterwards is later.
    const { stateAt } = (reports[3] as { readonly returned: { readonly stateAt: Date } }).returned;
    expect(stateAt.getTime()).toBeLessThanOrEqual(Date.now());
    stripe.available = false;
    expect(await checked.since(new Date())).toEqual(err({ kind: "payments_unavailable", reason: "we are down" }));
  });
});

describe("StripePayments, about money that came back", () => {
  const created = 1_767_225_600;
  const at = new Date(created * 1000);
  const payments = new StripePayments(STRIPE_SECRETS, "https://panoramas.example", new SystemClock());
  const read = (type: string, object: object) => {
    const webhook = returnWebhook(type, object, created);
    return payments.payment(Buffer.from(webhook), signedByStripe(webhook))._unsafeUnwrap();
  };
  const refund = { id: "re_1", object: "refund", amount: 500, created, payment_intent: "pi_1", status: "succeeded" };
  const known = { id: "re_1", kind: "refund", cents: 500, at };
  const dispute = {
    id: "dp_1",
    object: "dispute",
    amount: 900,
    payment_intent: { id: "pi_1" },
    status: "needs_response",
  };

  it.each([
    ["refund.created", refund, known],
    ["refund.created", { ...refund, status: "pending" }, known],
    ["refund.updated", { ...refund, status: null }, known],
    ["refund.updated", { ...refund, status: "canceled" }, { ...known, failedAt: at }],
    ["refund.failed", { ...refund, status: "failed" }, { ...known, failedAt: at }],
    ["charge.refund.updated", { ...refund, status: "failed" }, { ...known, failedAt: at }],
    [
      "charge.refunded",
      { id: "ch_1", amount: 900, amount_refunded: 300, payment_intent: "pi_1" },
      { id: "ch_1", kind: "total", cents: 300, at },
    ],
  ])("reads %s of %j", (type, object, returned) => {
    expect(read(type, object)).toEqual({ paymentId: "pi_1", returned });
  });

  const withdrawal = { amount: -1000 };
  it.each([
    ["created", dispute, "open", undefined],
    ["created", { ...dispute, status: "warning_needs_response" }, "none", undefined],
    ["created", { ...dispute, balance_transactions: [withdrawal] }, "open", [900, 1]],
    ["funds_withdrawn", dispute, "open", [900, 0]],
    ["funds_reinstated", { ...dispute, status: "under_review" }, "open", [0, 0]],
    [
      "funds_reinstated",
      { ...dispute, status: "won", balance_transactions: [withdrawal, { amount: 400 }] },
      "won",
      [540, 2],
    ],
    ["closed", { ...dispute, status: "won", balance_transactions: [withdrawal] }, "won", [0, 1]],
    ["closed", { ...dispute, status: "lost" }, "lost", [900, 0]],
    ["closed", { ...dispute, status: "warning_closed" }, "none", undefined],
  ] as const)("reads charge.dispute.%s of %j", (type, object, state, moved) => {
    const withdrawn = moved && { withdrawn: { cents: moved[0], at, transfers: moved[1] } };
    const returned = { id: "dp_1", kind: "dispute", state, stateAt: at, ...withdrawn };
    expect(read(`charge.dispute.${type}`, object)).toEqual({ paymentId: "pi_1", returned });
  });

  it.each([
    ["a payment that is not named", { ...refund, payment_intent: null }],
    ["an amount that is none", { ...refund, amount: -1 }],
    ["an amount above what can be stored", { ...refund, amount: 2 ** 31 }],
    ["a long id", { ...refund, id: "x".repeat(256) }],
  ])("ignores a refund with %s", (_, object) => {
    expect(read("refund.created", object)).toBeUndefined();
  });
});
