import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, accountId, noon, orderId } from "../../../adapters/contracts/support/builders.js";
import { MemoryPayments, type PaymentWebhook } from "../../../adapters/memory/memory-payments.js";
import { accounts } from "../../../application/accounts/accounts.js";
import { ledger } from "../../../application/credits/ledger.js";
import { orders } from "../../../application/credits/orders.js";
import { purchases, reconciliations } from "../../../application/credits/purchases.js";
import type { Payments } from "../../../application/ports/payments.js";
import type { LedgerPart } from "../../../application/ports/stores/ledger-store.js";
import type { Account, Email } from "../../../domain/accounts/account.js";
import { type Credits, credits } from "../../../domain/credits/credits.js";
import {
  CREDIT_PACKS,
  type CreditPack,
  type OrderId,
  type Payment,
  type PaymentDifference,
} from "../../../domain/credits/order.js";
import type { AccountId } from "../../../domain/ids.js";
import { overridden } from "../../support/overridden.js";
import { aWorld, type World } from "../../support/world.js";

let world: World;
beforeEach(() => {
  world = aWorld();
});

const open = async (email: string, amount?: Credits): Promise<AccountId> =>
  (await accounts(world).open({ email: email as Email, credits: amount }))._unsafeUnwrap().account.id;

describe("payOrder", () => {
  it("returns not_found for an unknown order", async () => {
    const message = `There is no order ${orderId(404)}.`;
    expect((await world.payOrder(orderId(404)))._unsafeUnwrapErr()).toEqual({ kind: "not_found", message });
  });
});

describe("createOrder", () => {
  it("returns not_found for an unknown account", async () => {
    const message = `There is no account ${accountId(404)}.`;
    const refused = await world.createOrder(accountId(404), credits(1));
    expect(refused._unsafeUnwrapErr()).toEqual({ kind: "not_found", message });
  });
});

describe("buyCredits", () => {
  const [pack] = CREDIT_PACKS;
  let account: Account;
  beforeEach(async () => {
    account = (await accounts(world).open({ email: "owner@example.com" as Email }))._unsafeUnwrap().account;
  });
  const checkout: Payments["checkout"] = async (order, { priceCents }, email) =>
    ok({ id: "session-1", token: "token-1", url: `https://pay.example/${order.id}/${priceCents}/${email}` });
  const buy = (payments: Partial<Payments> = {}) =>
    purchases({
      ...world,
      payments: overridden<Payments>(world.payments, { checkout, expire: async () => {}, ...payments }),
    }).buy(account, pack);

  it.each(["order_canceled", "order_paid"])("opens no checkout of an order that closes meanwhile: %s", async (kind) => {
    const expired: string[] = [];
    const result = await buy({
      checkout: async (order, ...others) => {
        if (kind === "order_canceled") (await orders(world).cancelOrder(account.id, order.id))._unsafeUnwrap();
        else (await orders(world).payOrder(order.id))._unsafeUnwrap();
        return checkout(order, ...others);
      },
      expire: async (sessionId) => void expired.push(sessionId),
    });
    expect(result).toEqual(err({ kind }));
    expect(expired).toEqual(["session-1"]);
  });

  it("payOrder says that an order was canceled while it was paid, and adds nothing", async () => {
    const { order } = (await buy({ checkout: async () => ok(undefined) }))._unsafeUnwrap();
    const find: typeof world.orders.find = async (id) => {
      const found = await world.orders.find(id);
      await world.orders.cancel(order.id, account.id);
      return found;
    };
    const paid = await orders({ ...world, orders: overridden(world.orders, { find }) }).payOrder(order.id);
    expect(paid._unsafeUnwrapErr().message).toBe(`The order ${order.id} was canceled. No credits were added.`);
    expect(await world.ledger.balance(account.id)).toBe(0);
  });

  it("places a pending order and returns the URL of its checkout", async () => {
    const { order, checkoutUrl } = (await buy())._unsafeUnwrap();
    const createdAt = world.clock.now();
    expect(order).toEqual({
      id: order.id,
      accountId: account.id,
      credits: pack.credits,
      createdAt,
      checkout: { sessionId: "session-1", token: "token-1", priceCents: pack.priceCents, currency: pack.currency },
      state: "pending",
    });
    expect(await world.orders.find(order.id)).toEqual(order);
    expect(checkoutUrl).toBe(`https://pay.example/${order.id}/${pack.priceCents}/owner@example.com`);
    expect(await world.ledger.balance(account.id)).toBe(0);
  });

  it("places an order without a checkout if the operator collects payments otherwise", async () => {
    const { order, checkoutUrl } = (await buy({ checkout: async () => ok(undefined) }))._unsafeUnwrap();
    expect([checkoutUrl, order.checkout]).toEqual([undefined, undefined]);
    expect(await world.orders.list(account.id, 9, undefined)).toEqual([order]);
  });

  it("withdraws the order if the payment service is unavailable: nobody could pay it", async () => {
    const unavailable = { kind: "payments_unavailable", reason: "timeout" } as const;
    expect((await buy({ checkout: async () => err(unavailable) }))._unsafeUnwrapErr()).toEqual(unavailable);
    expect(await world.orders.list(account.id, 9, undefined)).toEqual([]);
  });

  it("refuses the eleventh pending order of 24 hours, without a checkout", async () => {
    for (let n = 0; n < 10; n += 1) expect((await buy()).isOk()).toBe(true);
    await world.clock.advance(24 * 60 * 60 * 1000 - 1);
    let checkouts = 0;
    const counting: Payments["checkout"] = (...order) => {
      checkouts += 1;
      return checkout(...order);
    };
    const refused = await buy({ checkout: counting });
    expect(refused._unsafeUnwrapErr()).toEqual({ kind: "too_many_pending_orders", limit: 10 });
    expect(checkouts).toBe(0);
    await world.clock.advance(1);
    expect((await buy({ checkout: counting })).isOk()).toBe(true);
    expect(checkouts).toBe(1);
  });
});

describe("receivePaymentWebhook", () => {
  const [pack] = CREDIT_PACKS;
  let payments: MemoryPayments;
  let id: AccountId;
  beforeEach(async () => {
    payments = new MemoryPayments();
    id = await open("owner@example.com");
  });
  const buy = async (bought: CreditPack = pack): Promise<OrderId> => {
    const account = { id, email: "owner@example.com" as Email, createdAt: noon };
    return (await purchases({ ...world, payments }).buy(account, bought))._unsafeUnwrap().order.id;
  };
  const receive = ({ body, signature }: PaymentWebhook) =>
    purchases({ ...world, payments }).receivePaymentWebhook(body, signature);

  it.each<[string, Partial<Payment>, PaymentDifference[]]>([
    ["another session of the same account", { sessionId: "cs_other" }, ["session"]],
    ["no token of ours", { token: undefined }, ["token"]],
    ["the price of another product", { amountCents: 100 }, ["amount"]],
    ["a cheaper currency", { currency: "JPY" }, ["currency"]],
    [
      "another product that names the order",
      { sessionId: "cs_other", token: undefined, amountCents: 100 },
      ["session", "token", "amount"],
    ],
  ])("ignores a genuine payment with %s, and reports the differences", async (_, differences, reported) => {
    const orderId = await buy();
    expect(await receive(payments.pay(orderId, differences))).toEqual(ok(undefined));
    expect(await world.ledger.balance(id)).toBe(0);
    const sessionId = differences.sessionId ?? `session_${orderId}`;
    expect(world.reporter.of("payment_ignored")).toEqual([
      {
        kind: "payment_ignored",
        orderId,
        sessionId,
        amountCents: differences.amountCents ?? pack.priceCents,
        currency: differences.currency ?? pack.currency,
        differences: reported,
      },
    ]);
    expect((await receive(payments.pay(orderId))).isOk()).toBe(true);
    expect(await world.ledger.balance(id)).toBe(pack.credits);
  });

  it("takes the price and the credits of the order when the packs have changed since", async () => {
    const before = await buy();
    const after = await buy({ ...pack, priceCents: 2_900, currency: "EUR" });
    expect((await receive(payments.pay(before))).isOk()).toBe(true);
    expect((await receive(payments.pay(after, { amountCents: 900, currency: "USD" })))._unsafeUnwrap()).toBeUndefined();
    expect(await world.ledger.balance(id)).toBe(pack.credits);
    expect((await receive(payments.pay(after))).isOk()).toBe(true);
    expect(await world.ledger.balance(id)).toBe(2 * pack.credits);
  });

  it("does not pay an order that has no checkout: only the operator can", async () => {
    const order = (await world.createOrder(id, credits(25)))._unsafeUnwrap();
    const other = await buy();
    expect(await receive(payments.pay(other, { orderId: order.id }))).toEqual(ok(undefined));
    expect(world.reporter.of("payment_ignored")).toMatchObject([{ orderId: order.id, differences: ["checkout"] }]);
    expect(await world.ledger.balance(id)).toBe(0);
    expect((await world.payOrder(order.id)).isOk()).toBe(true);
    expect(await world.ledger.balance(id)).toBe(25);
  });

  it("accepts other webhooks of the payment service, without effect", async () => {
    expect(await receive(payments.otherWebhook())).toEqual(ok(undefined));
  });

  it("refuses a forged webhook, and a webhook for an unknown order", async () => {
    const webhook = payments.pay(await buy(), { orderId: orderId(404) });
    expect((await receive({ ...webhook, signature: "guessed" }))._unsafeUnwrapErr().kind).toBe("unverified_webhook");
    const message = `There is no order ${orderId(404)}.`;
    expect(await receive(webhook)).toEqual(err({ kind: "not_found", message }));
    expect(world.reporter.of("payment_ignored")).toMatchObject([{ orderId: orderId(404), differences: ["order"] }]);
  });
});

describe("an order of the account", () => {
  it("is read and canceled only by its owner, and only before a checkout or a payment", async () => {
    const [id, stranger] = [await open("owner@example.com"), await open("other@example.com")];
    const notFound = (message: string) => err({ kind: "not_found", message });
    const order = (await world.createOrder(id, credits(25)))._unsafeUnwrap();
    expect(await orders(world).readOrder(id, order.id)).toEqual(ok(order));
    for (const [account, text] of [
      [stranger, order.id],
      [id, orderId(404)],
      [id, "a/b"],
    ] as const) {
      expect(await orders(world).readOrder(account, text)).toEqual(notFound("There is no such order."));
      const refused = notFound("There is no such order that can be canceled.");
      expect(await orders(world).cancelOrder(account, text)).toEqual(refused);
    }
    expect(await orders(world).cancelOrder(id, order.id)).toEqual(ok(undefined));
    expect((await orders(world).cancelOrder(id, order.id)).isErr()).toBe(true);
  });
});

describe("reconcilePayments", () => {
  let payments: MemoryPayments;
  let bought: OrderId;
  let id: AccountId;
  beforeEach(async () => {
    payments = new MemoryPayments();
    id = await open("owner@example.com");
    const account = { id, email: "owner@example.com" as Email, createdAt: noon };
    bought = (await purchases({ ...world, payments }).buy(account, CREDIT_PACKS[0]))._unsafeUnwrap().order.id;
  });
  const reconcile = () => reconciliations({ ...world, payments }).reconcilePayments(noon);
  const refunded = (cents: number) =>
    payments.giveBack({ paymentId: "pi_1", returned: { id: `re_${cents}`, kind: "refund", cents, at: noon } });

  it("applies the payments and refunds that are missing here, and repeats nothing", async () => {
    refunded(300); // before its payment
    payments.pay(bought, { paymentId: "pi_1" });
    payments.pay(bought, { orderId: orderId(404) });
    expect(await reconcile()).toEqual(ok({ reports: 3, changes: [{ orderId: bought, credits: 67 }] }));
    refunded(150);
    expect(await reconcile()).toEqual(ok({ reports: 4, changes: [{ orderId: bought, credits: -17 }] }));
    expect(await reconcile()).toEqual(ok({ reports: 4, changes: [] }));
    expect(await world.ledger.balance(id)).toBe(50);
    const returned = { kind: "payment_returned", what: "refund", paymentId: "pi_1", orderId: bought, credits: 0 };
    expect(world.reporter.of("payment_returned").slice(0, 3)).toEqual([
      { ...returned, returnId: "re_300", orderId: undefined },
      { ...returned, returnId: "re_300" },
      { ...returned, returnId: "re_150", credits: -17 },
    ]);
  });

  it("finds the refunds of an order that was paid by hand before its payment was reported", async () => {
    await world.payOrder(bought);
    payments.pay(bought, { paymentId: "pi_1" });
    expect(await reconcile()).toEqual(ok({ reports: 1, changes: [] }));
    refunded(900);
    expect((await reconcile())._unsafeUnwrap().changes).toEqual([{ orderId: bought, credits: -100 }]);
  });

  it("changes nothing if the payment service is unavailable", async () => {
    const unavailable = err({ kind: "payments_unavailable", reason: "timeout" } as const);
    const down = overridden(payments, { since: async () => unavailable });
    expect(await reconciliations({ ...world, payments: down }).reconcilePayments(noon)).toEqual(unavailable);
  });
});

describe("verifyLedger", () => {
  it("counts the accounts and returns no findings if every ledger is correct", async () => {
    const id = await open("owner@example.com", credits(5));
    await world.createPanorama(id, aCreationRequest());
    await open("other@example.com");
    const checked: number[] = [];
    expect(await ledger(world).verifyLedger((accounts) => checked.push(accounts))).toEqual({
      accounts: 2,
      findings: [],
    });
    expect(checked).toEqual([1, 2]);
  });

  /** Verifies ledgers of which a part is stored otherwise. */
  const findingsWith = async (change: (part: LedgerPart) => LedgerPart): Promise<readonly string[]> => {
    const walk: typeof world.ledger.walk = (visit) => world.ledger.walk((part) => visit(change(part)));
    return (await ledger({ ledger: overridden(world.ledger, { walk }) }).verifyLedger()).findings;
  };

  it("names the account of a finding, and only the unreadable rows of an account that has some", async () => {
    const id = await open("owner@example.com", credits(9));
    await world.createPanorama(id, aCreationRequest());
    expect(
      await findingsWith((part) =>
        part.kind === "standing" ? { ...part, standing: { ...part.standing, credits: credits(7) } } : part,
      ),
    ).toEqual([`account ${id}: the balance is 7, but the sum of the entries is 5`]);
    expect(
      await findingsWith((part) =>
        part.kind === "orders"
          ? { ...part, orders: part.orders.map((order) => ({ ...order, id: orderId(1), credits: credits(8) })) }
          : part,
      ),
    ).toEqual([`account ${id}: order ${orderId(1)} has 8 credits left, but the sum of its entries is 0`]);
    for (const kind of ["standing", "tasks", "entries", "orders"]) {
      const damaged = (part: LedgerPart): LedgerPart =>
        part.kind === kind ? { ...part, kind: "unreadable", detail: `${kind} are damaged` } : part;
      expect(await findingsWith(damaged)).toEqual([`account ${id}: ${kind} are damaged`]);
    }
  });
});
