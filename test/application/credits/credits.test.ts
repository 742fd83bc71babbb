import { err, ok, type Result } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, accountId, orderId } from "../../../adapters/contracts/builders.js";
import { openAccount } from "../../../application/accounts/open-account.js";
import { buyCredits } from "../../../application/credits/buy-credits.js";
import { readCreditTotals } from "../../../application/credits/read-credit-totals.js";
import { readCredits } from "../../../application/credits/read-credits.js";
import { readLedger } from "../../../application/credits/read-ledger.js";
import { receivePaymentWebhook } from "../../../application/credits/receive-payment-webhook.js";
import { verifyLedger } from "../../../application/credits/verify-ledger.js";
import { unverifiedWebhook } from "../../../application/errors.js";
import type { Payments } from "../../../application/ports/payments.js";
import type { Account, AccountId, Email } from "../../../domain/account.js";
import { CREDIT_PACKS } from "../../../domain/credit-pack.js";
import { type Credits, credits } from "../../../domain/credits.js";
import type { OrderId } from "../../../domain/order.js";
import { aWorld, type World } from "../../support/world.js";

let world: World;
beforeEach(() => {
  world = aWorld();
});

const open = async (email: string, amount?: Credits): Promise<AccountId> =>
  (await openAccount(world)({ email: email as Email, credits: amount }))._unsafeUnwrap().account.id;

describe("payOrder", () => {
  it("adds the order's credits once, with repeated and concurrent calls", async () => {
    const id = await open("owner@example.com");
    const order = (await world.createOrder(id, credits(25)))._unsafeUnwrap();
    expect(await readCredits(world)(id)).toBe(0);

    const payments = await Promise.all([1, 2, 3].map(() => world.payOrder(order.id)));
    payments.push(await world.payOrder(order.id));
    for (const payment of payments) expect(payment._unsafeUnwrap()).toMatchObject({ id: order.id, state: "paid" });
    expect(await readCredits(world)(id)).toBe(25);
    expect((await verifyLedger(world)()).findings).toEqual([]);
  });

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
    account = (await openAccount(world)({ email: "owner@example.com" as Email }))._unsafeUnwrap().account;
  });
  const checkout: Payments["checkout"] = async (order, { priceCents }, email) =>
    ok(`https://pay.example/${order.id}/${priceCents}/${email}`);
  const buy = (payments: Pick<Payments, "checkout"> = { checkout }) =>
    buyCredits({ ...world, payments })(account, pack);

  it("places a pending order and returns the URL of its checkout", async () => {
    const { order, checkoutUrl } = (await buy())._unsafeUnwrap();
    const createdAt = world.clock.now();
    expect(order).toEqual({
      id: order.id,
      accountId: account.id,
      credits: pack.credits,
      createdAt,
      state: "pending",
    });
    expect(await world.orders.find(order.id)).toEqual(order);
    expect(checkoutUrl).toBe(`https://pay.example/${order.id}/${pack.priceCents}/owner@example.com`);
    expect(await readCredits(world)(account.id)).toBe(0);
  });

  it("leaves the order pending if the payment service is unavailable", async () => {
    const unavailable = { kind: "payments_unavailable", reason: "timeout" } as const;
    expect((await buy({ checkout: async () => err(unavailable) }))._unsafeUnwrapErr()).toEqual(unavailable);
    expect(await world.orders.list(account.id, 9, undefined)).toMatchObject([{ state: "pending" }]);
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
  const receive = (paid: ReturnType<Payments["paidOrder"]>): Promise<Result<void, unknown>> => {
    const paidOrder: Payments["paidOrder"] = (body, signature) =>
      Buffer.from(body).toString() === "body" && signature === "signature"
        ? paid
        : err(unverifiedWebhook("wrong call"));
    return receivePaymentWebhook({ ...world, payments: { paidOrder } })(Buffer.from("body"), "signature");
  };

  it("adds the credits of a paid order once, also if the webhook is repeated", async () => {
    const id = await open("owner@example.com");
    const order = (await world.createOrder(id, credits(25)))._unsafeUnwrap();
    for (let n = 0; n < 2; n += 1) expect(await receive(ok<OrderId>(order.id))).toEqual(ok(undefined));
    expect(await readCredits(world)(id)).toBe(25);
  });

  it("accepts other webhooks of the payment service, without effect", async () => {
    expect(await receive(ok(undefined))).toEqual(ok(undefined));
  });

  it("refuses a webhook that is not genuine, and one for an unknown order", async () => {
    const unverified = unverifiedWebhook("no signature");
    expect(await receive(err(unverified))).toEqual(err(unverified));
    const message = `There is no order ${orderId(404)}.`;
    expect(await receive(ok(orderId(404)))).toEqual(err({ kind: "not_found", message }));
  });
});

describe("readCreditTotals", () => {
  it("returns what is left, what is reserved and what is spent", async () => {
    const id = await open("owner@example.com", credits(25));
    (await world.createPanorama(id, aCreationRequest()))._unsafeUnwrap();
    expect(await readCreditTotals(world)(id)).toEqual({ remaining: 21, reserved: 4, spent: 0 });
    await world.clock.advance(5_000);
    await world.settle();
    expect(await readCreditTotals(world)(id)).toEqual({ remaining: 21, reserved: 0, spent: 4 });
  });
});

describe("readLedger", () => {
  it("returns the account's entries", async () => {
    const id = await open("owner@example.com", credits(5));
    expect((await readLedger(world)(id))._unsafeUnwrap()).toEqual(await world.ledger.entries(id));
  });

  it("returns not_found for an unknown account", async () => {
    const message = `There is no account ${accountId(404)}.`;
    expect((await readLedger(world)(accountId(404)))._unsafeUnwrapErr()).toEqual({ kind: "not_found", message });
  });
});

describe("verifyLedger", () => {
  it("counts the accounts and returns no findings if every ledger is correct", async () => {
    await open("owner@example.com", credits(5));
    await open("other@example.com");
    expect(await verifyLedger(world)()).toEqual({ accounts: 2, findings: [] });
  });

  it("names the account of a finding", async () => {
    const id = await open("owner@example.com", credits(5));
    const all = async function* () {
      for await (const { standing, ...rest } of world.ledger.all()) {
        yield { ...rest, standing: { ...standing, credits: credits(7) } };
      }
    };
    const { findings } = await verifyLedger({ ledger: { all } })();
    expect(findings).toEqual([`account ${id}: the balance is 7, but the sum of the entries is 5`]);
  });
});
