import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Stripe from "stripe";

type ListedObject = { readonly created: number; readonly payment_intent: string; readonly [key: string]: unknown };

type StripeCall = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly fields: URLSearchParams;
};

/** Answers the Stripe API calls that the service makes, as Stripe does, and records all calls. */
export class FakeStripe {
  readonly calls: StripeCall[] = [];
  /** What the lists have, by their path. `created` is in seconds. */
  readonly lists = new Map<string, readonly ListedObject[]>();
  /** While false, every call is answered with 503. */
  available = true;
  /** Stripe expires no session that is paid. */
  isPaid = false;
  private readonly server: Server;

  private constructor() {
    this.server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = "", url: path = "", headers } = request;
      this.calls.push({ method, path, headers, fields: new URLSearchParams(Buffer.concat(chunks).toString()) });
      const list = method === "GET" ? { object: "list", has_more: false, data: this.listed(path) } : undefined;
      const isRefused = path.endsWith("/expire") && this.isPaid;
      const refusal = {
        error: {
          type: "invalid_request_error",
          message: "Only Checkout Sessions with a status in [open] can be expired.",
        },
      };
      const [status, body] = isRefused
        ? [400, refusal]
        : this.available
          ? [
              200,
              list ?? {
                id: "cs_test_1",
                object: "checkout.session",
                url: "https://checkout.stripe.com/c/pay/cs_test_1",
              },
            ]
          : [503, { error: { type: "api_error", message: "we are down" } }];
      response.writeHead(status, { "content-type": "application/json", "stripe-should-retry": "false" });
      response.end(JSON.stringify(body));
    });
  }

  static async start(): Promise<FakeStripe> {
    const fake = new FakeStripe();
    fake.server.listen(0, "127.0.0.1");
    await once(fake.server, "listening");
    return fake;
  }

  /** By the filters of the query. */
  private listed(path: string): readonly object[] {
    const { pathname, searchParams } = new URL(path, "http://stripe");
    const [since, payment] = [searchParams.get("created[gte]"), searchParams.get("payment_intent")];
    return (this.lists.get(pathname) ?? [])
      .filter(({ created }) => since === null || created >= Number(since))
      .filter(({ payment_intent }) => payment === null || payment_intent === payment);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async end(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}

/** The body of Stripe's webhook about an ended checkout session. `session`: what differs in the session. */
export const checkoutWebhook = (
  orderId: string,
  {
    type = "checkout.session.completed",
    paymentStatus = "paid",
    session = {},
  }: { readonly type?: string; readonly paymentStatus?: string; readonly session?: object } = {},
): string =>
  JSON.stringify({
    id: "evt_1",
    object: "event",
    type,
    data: {
      object: {
        id: "cs_test_1",
        object: "checkout.session",
        client_reference_id: orderId,
        payment_status: paymentStatus,
        amount_total: 900,
        currency: "usd",
        metadata: {},
        ...session,
      },
    },
  });

/** The body of Stripe's webhook about a refund, a charge or a dispute. `created` is in seconds. */
export const returnWebhook = (type: string, object: object, created = Math.floor(Date.now() / 1000)): string =>
  JSON.stringify({ id: "evt_2", object: "event", api_version: "2026-10-28.endive", type, created, data: { object } });

/** What the service is configured with. */
export const STRIPE_SECRETS = { secretKey: "sk_test_secret", webhookSecret: "whsec_secret" };

/** The signature header, made by Stripe's own library. */
export const signedByStripe = (payload: string, secret = STRIPE_SECRETS.webhookSecret, secondsAgo = 0): string =>
  new Stripe("sk_test_any").webhooks.generateTestHeaderString({
    payload,
    secret,
    timestamp: Math.floor(Date.now() / 1000) - secondsAgo,
  });
