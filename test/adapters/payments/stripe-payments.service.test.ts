import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StripePayments } from "../../../adapters/payments/stripe-payments.js";
import { SystemClock } from "../../../adapters/system/system-clock.js";
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

  it("redirects an order to Stripe, adds its credits once for three webhooks, and takes refunded ones back once", async () => {
    const ann = await service.person("ann", 1);
    const placed = await (await logIn(service, ann)).post("/account/orders", { credits: "500" });
    expect(placed.location).toBe("https://checkout.stripe.com/c/pay/cs_test_1");
    const [order] = await service.orders.list(ann.id, 20, undefined);
    expect(order?.state).toBe("pending");
    await send(checkoutWebhook(order?.id ?? "", { session: { id: "cs_other", amount_total: 100 } })); // other product
    await send(checkoutWebhook("ord_unknown")); // Stripe would repeat it after another status
    expect(await service.ledger.balance(ann.id)).toBe(1);

    const metadata = { panorama_order_token: stripe.calls[0]?.fields.get("metadata[panorama_order_token]") };
    const session = { amount_total: 3_900, metadata, payment_intent: "pi_9" };
    const webhook = checkoutWebhook(order?.id ?? "", { session });
    expect(await statusOf(webhook, signedByStripe(webhook, "whsec_another"))).toBe(400);
    expect(await service.ledger.balance(ann.id)).toBe(1);
    await Promise.all([send(webhook), send(webhook), send(webhook)]);
    const refund = { id: "re_9", amount: 1_950, created: 1, payment_intent: "pi_9", status: "succeeded" };
    for (const _ of [1, 2]) await send(returnWebhook("refund.created", refund));
    expect((await service.ledger.entries(ann.id)).map(({ credits }) => credits)).toEqual([1, 500, -250]);
  });
});
