import { err, ok } from "neverthrow";
import Stripe from "stripe";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anOrderCheckout, aPendingOrder, orderId, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { RecordingReporter } from "../../../adapters/memory/recording-reporter.js";
import { StripePayments } from "../../../adapters/payments/stripe-payments.js";
import { SystemClock } from "../../../adapters/system/system-clock.js";
import { reconcilePayments } from "../../../application/credits/reconcile-payments.js";
import type { Email } from "../../../domain/accounts/account.js";
import { CREDIT_PACKS } from "../../../domain/credits/credit-pack.js";
import { pay } from "../../../domain/credits/order.js";
import { checkoutWebhook, FakeStripe, returnWebhook } from "../../support/fake-stripe.js";
import { PASSWORD, WebService } from "../../support/web-service.js";

const secrets = { secretKey: "sk_test_secret", webhookSecret: "whsec_secret" };

/** The signature header, made by Stripe's own library. */
const signed = (payload: string, secret = secrets.webhookSecret, secondsAgo = 0): string =>
  new Stripe("sk_test_any").webhooks.generateTestHeaderString({
    payload,
    secret,
    timestamp: Math.floor(Date.now() / 1000) - secondsAgo,
  });

describe("StripePayments", () => {
  let stripe: FakeStripe;
  let payments: StripePayments;

  beforeEach(async () => {
    stripe = await FakeStripe.start();
    payments = new StripePayments(secrets, "https://panoramas.example", new SystemClock(), stripe.url);
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
    expect(payments.payment(Buffer.from(webhook), signed(webhook))).toEqual(ok(payment));
    const late = checkoutWebhook(order.id, { type: "checkout.session.async_payment_succeeded", session });
    expect(payments.payment(Buffer.from(late), signed(late))).toEqual(ok(payment));
  });

  it("returns a payment without what its session does not have", () => {
    for (const metadata of [null, {}, { panorama_order_token: 7 }]) {
      const webhook = checkoutWebhook(order.id, { session: { metadata, amount_total: null, currency: null } });
      const nothing = { token: undefined, amountCents: undefined, currency: undefined };
      expect(payments.payment(Buffer.from(webhook), signed(webhook))).toEqual(
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
      expect(payments.payment(Buffer.from(webhook), signed(webhook))).toEqual(ok(undefined));
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
    expect(payments.payment(Buffer.from(webhook), signed(webhook))).toEqual(ok(undefined));
  });

  it.each([
    ["an empty signature", "t=1,v1="],
    ["a signature of 64 characters that are more bytes", `t=1,v1=${"é".repeat(64)}`],
    ["a signature without a value", "t=1,v1"],
    ["no time", `v1=${"0".repeat(64)}`],
  ])("rejects a header with %s", (_, header) => {
    const forged = err({ kind: "unverified_webhook", reason: "The signature is invalid." });
    expect(payments.payment(Buffer.from(checkoutWebhook(order.id)), header)).toEqual(forged);
  });

  it("rejects a webhook that is forged, changed or older than Stripe's tolerance", () => {
    const webhook = checkoutWebhook(order.id);
    const forged = err({ kind: "unverified_webhook", reason: "The signature is invalid." });
    expect(payments.payment(Buffer.from(webhook), "")).toEqual(forged);
    expect(payments.payment(Buffer.from(webhook), "t=1,v1=00")).toEqual(forged);
    expect(payments.payment(Buffer.from(webhook), signed(webhook, "whsec_another"))).toEqual(forged);
    expect(payments.payment(Buffer.from(webhook.replace("paid", "PAID")), signed(webhook))).toEqual(forged);
    expect(payments.payment(Buffer.from(webhook), signed(webhook, secrets.webhookSecret, 3600))).toEqual(forged);
  });

  it("compares the age of a webhook with its clock, not with that of the machine", () => {
    const anHourAgo = { now: () => secondsAfter(new Date(), -3600) };
    const behind = new StripePayments(secrets, "https://panoramas.example", anHourAgo, stripe.url);
    const webhook = checkoutWebhook(order.id);
    const signature = signed(webhook, secrets.webhookSecret, 3600);
    expect(behind.payment(Buffer.from(webhook), signature)._unsafeUnwrap()).toMatchObject({ orderId: order.id });
  });
});

describe("StripePayments, about money that came back", () => {
  const created = 1_767_225_600;
  const at = new Date(created * 1000);
  const payments = new StripePayments(secrets, "https://panoramas.example", new SystemClock());
  const read = (type: string, object: object) => {
    const webhook = returnWebhook(type, object, created);
    return payments.payment(Buffer.from(webhook), signed(webhook))._unsafeUnwrap();
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

describe("the service with StripePayments", () => {
  let stripe: FakeStripe;
  let service: WebService;

  beforeAll(async () => {
    stripe = await FakeStripe.start();
    service = await WebService.start(
      new StripePayments(secrets, "https://panoramas.example", new SystemClock(), stripe.url),
    );
  });
  afterAll(async () => {
    await service?.end();
    await stripe?.end();
    expect(service?.failures).toEqual([]);
  });

  it("redirects an order to Stripe and adds its credits once when the webhook arrives three times", async () => {
    const ann = await service.person("ann", 1);
    const headers = { origin: service.url };
    const post = (path: string, body: URLSearchParams | string, more: Record<string, string> = {}) =>
      fetch(service.url + path, { method: "POST", redirect: "manual", body, headers: { ...headers, ...more } });
    const login = await post("/login", new URLSearchParams({ email: ann.email, password: PASSWORD }));
    const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
    const page = await (await fetch(`${service.url}/account`, { headers: { cookie } })).text();
    const token = /name="form_token" value="(\w+)"/.exec(page)?.[1] ?? "";
    const placed = await post("/account/orders", new URLSearchParams({ form_token: token, credits: "500" }), {
      cookie,
    });
    expect(placed.headers.get("location")).toBe("https://checkout.stripe.com/c/pay/cs_test_1");
    const [order] = await service.orders.list(ann.id, 20, undefined);
    expect(order?.state).toBe("pending");

    const otherProduct = checkoutWebhook(order?.id ?? "", { session: { id: "cs_other", amount_total: 100 } });
    const ignored = await post("/payments/stripe", otherProduct, { "stripe-signature": signed(otherProduct) });
    expect(ignored.status).toBe(200);
    expect(await service.ledger.balance(ann.id)).toBe(1);

    const metadata = { panorama_order_token: stripe.calls[0]?.fields.get("metadata[panorama_order_token]") };
    const webhook = checkoutWebhook(order?.id ?? "", { session: { amount_total: 3_900, metadata } });
    const send = (signature: string) => post("/payments/stripe", webhook, { "stripe-signature": signature });
    expect((await send(signed(webhook, "whsec_another"))).status).toBe(400);
    expect(await service.ledger.balance(ann.id)).toBe(1);
    const answers = await Promise.all([send(signed(webhook)), send(signed(webhook)), send(signed(webhook))]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await service.ledger.balance(ann.id)).toBe(501);
    expect((await service.ledger.entries(ann.id)).map(({ credits }) => credits)).toEqual([1, 500]);
  });

  const send = async (webhook: string) => {
    const headers = { "stripe-signature": signed(webhook) };
    const answer = await fetch(`${service.url}/payments/stripe`, { method: "POST", body: webhook, headers });
    expect(answer.status).toBe(200);
  };

  it("takes credits back exactly once, whatever arrives first, and compares with Stripe", async () => {
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
    const payments = new StripePayments(secrets, "https://p.example", new SystemClock(), stripe.url);
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

  it("compares what began before the time, and orders that know no payment", async () => {
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
    const payments = new StripePayments(secrets, "https://p.example", clock, stripe.url);
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

  it("answers 200 to the webhook of an unknown order, so that Stripe does not repeat it", async () => {
    const webhook = checkoutWebhook("ord_unknown");
    const answer = await fetch(`${service.url}/payments/stripe`, {
      method: "POST",
      body: webhook,
      headers: { "stripe-signature": signed(webhook) },
    });
    expect(answer.status).toBe(200);
  });
});
