import { err, ok } from "neverthrow";
import Stripe from "stripe";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { aPendingOrder, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { StripePayments } from "../../../adapters/payments/stripe-payments.js";
import { SystemClock } from "../../../adapters/system/system-clock.js";
import type { Email } from "../../../domain/accounts/account.js";
import { CREDIT_PACKS } from "../../../domain/credits/credit-pack.js";
import { checkoutWebhook, FakeStripe } from "../../support/fake-stripe.js";
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
    expect(behind.payment(Buffer.from(webhook), signature).map((payment) => payment?.orderId)).toEqual(ok(order.id));
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
