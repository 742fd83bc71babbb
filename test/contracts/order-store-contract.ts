import { err, ok, type Result } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  accountId,
  anAccount,
  anOrderCheckout,
  aPaidOrder,
  aPendingOrder,
  noon,
  orderId,
  secondsAfter,
} from "../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../adapters/contracts/support/in-changing-zones.js";
import type { AdjustmentReason } from "../../domain/credits/adjustment.js";
import { credits } from "../../domain/credits/credits.js";
import { pay } from "../../domain/credits/order.js";
import type { Stores } from "./stores.js";

/** What every OrderStore must do (application/ports/stores/ledger-store.ts). */
export const describeOrderStore = (
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "ledger" | "orders" | "close">>,
) =>
  describe(`OrderStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    const pending = aPendingOrder({ credits: credits(7) });
    const paid = pay(pending, secondsAfter(noon, 60))._unsafeUnwrap();
    let stores: Pick<Stores, "accounts" | "ledger" | "orders" | "close">;

    const open = (id = owner) => stores.accounts.open(anAccount({ id }));

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      await open();
    });
    afterEach(() => stores.close());

    it("throws when it inserts or places an order of an unknown account", async () => {
      await expect(stores.orders.insert(aPendingOrder({ accountId: other }))).rejects.toThrow();
      const place = stores.orders.place(aPendingOrder({ accountId: other }), noon, () => ok(undefined));
      await expect(place).rejects.toThrow();
    });

    it("adds the credits and a ledger entry when the order is paid, to its own account only", async () => {
      const { orders, ledger } = stores;
      await open(other);
      await orders.insert(pending);
      await orders.pay(paid);
      expect(await orders.find(pending.id)).toEqual(paid);
      expect(await ledger.balance(owner)).toBe(7);
      expect(await orders.countPaid(owner)).toBe(1);
      expect(await ledger.entries(owner)).toEqual([
        { kind: "purchase", accountId: owner, orderId: pending.id, credits: 7, at: secondsAfter(noon, 60) },
      ]);
      expect(await orders.countPaid(other)).toBe(0);
      expect(await ledger.balance(other)).toBe(0);
      expect(await ledger.entries(other)).toEqual([]);
    });

    it("adds the credits once when the order is paid repeatedly and concurrently", async () => {
      const { orders, ledger } = stores;
      await orders.insert(pending);
      await orders.pay(paid);
      await Promise.all(Array.from({ length: 10 }, () => orders.pay({ ...paid, paidAt: noon })));
      expect(await orders.find(pending.id)).toEqual(paid);
      expect(await ledger.balance(owner)).toBe(7);
      expect(await ledger.entries(owner)).toHaveLength(1);
    });

    it("keeps the price at which an order was placed, which is no checkout", async () => {
      const { orders } = stores;
      const price = { priceCents: 900, currency: "USD" };
      const placed = aPendingOrder({ id: orderId(4), credits: credits(7), price });
      await orders.insert(placed);
      expect(await orders.find(orderId(4))).toEqual(placed);
      expect(await orders.pay({ ...paid, id: orderId(4) })).toEqual({ ...paid, id: orderId(4), price });
      await orders.insert(aPendingOrder({ id: orderId(5), price }));
      expect(await orders.cancel(orderId(5), owner)).toBe(true);
    });

    it("stores the checkout of an order once, and keeps it when the order is paid", async () => {
      const { orders } = stores;
      await orders.insert(pending);
      const checkout = anOrderCheckout();
      expect(await orders.recordCheckout(pending.id, checkout)).toBe(true);
      const second = anOrderCheckout({ sessionId: "cs_test_2", priceCents: 1 });
      expect(await orders.recordCheckout(pending.id, second)).toBe(false);
      expect(await orders.recordCheckout(orderId(99), checkout)).toBe(false);
      expect(await orders.pay(aPaidOrder({ id: orderId(99) }))).toBe(undefined);
      expect(await orders.find(pending.id)).toEqual({ ...pending, checkout });
      expect(await orders.pay({ ...paid, checkout })).toEqual({ ...paid, checkout });
      expect(await orders.list(owner, 9, undefined)).toEqual([{ ...paid, checkout }]);
      await orders.insert(aPendingOrder({ id: orderId(2), checkout }));
      expect(await orders.find(orderId(2))).toEqual(aPendingOrder({ id: orderId(2), checkout }));
      await orders.insert(aPendingOrder({ id: orderId(3) }));
      await orders.pay(aPaidOrder({ id: orderId(3) }));
      expect(await orders.recordCheckout(orderId(3), checkout)).toBe(false);
    });

    it("deletes only a pending order without a checkout that its own account cancels", async () => {
      const { orders } = stores;
      await open(other);
      await orders.insert(pending);
      await orders.insert(aPendingOrder({ id: orderId(2), checkout: anOrderCheckout() }));
      await orders.insert(aPendingOrder({ id: orderId(3) }));
      await orders.pay(pay(aPendingOrder({ id: orderId(3) }), noon)._unsafeUnwrap());
      expect(await orders.cancel(pending.id, other)).toBe(false);
      for (const n of [2, 3, 99]) expect(await orders.cancel(orderId(n), owner)).toBe(false);
      expect(await orders.cancel(pending.id, owner)).toBe(true);
      expect(await orders.cancel(pending.id, owner)).toBe(false);
      expect((await orders.list(owner, 9, undefined)).map(({ id }) => id)).toEqual([orderId(3), orderId(2)]);
    });

    it("lists older orders in pages", async () => {
      const { orders } = stores;
      for (const n of [3, 1, 5, 2, 4]) await orders.insert(aPendingOrder({ id: orderId(n) }));
      const page = async (limit: number, before?: number) =>
        (await orders.list(owner, limit, before === undefined ? undefined : orderId(before))).map(({ id }) => id);
      expect(await page(2)).toEqual([5, 4].map(orderId));
      expect(await page(2, 4)).toEqual([3, 2].map(orderId));
      expect(await page(2, 2)).toEqual([1].map(orderId));
      expect(await page(2, 1)).toEqual([]);
    });

    it("places an order if it is allowed, given the account's pending orders since a time", async () => {
      const { orders } = stores;
      await open(other);
      const seen: number[] = [];
      const place = (n: number, decision: Result<void, "no"> = ok(undefined), differences = {}) =>
        orders.place(
          aPendingOrder({ id: orderId(n), createdAt: noon, ...differences }),
          secondsAfter(noon, -60),
          (p) => {
            seen.push(p);
            return decision;
          },
        );
      await orders.insert(aPendingOrder({ id: orderId(1), createdAt: secondsAfter(noon, -60) })); // too old to count
      expect(await place(2)).toEqual(ok(undefined));
      expect(await place(3)).toEqual(ok(undefined));
      expect(await place(4, err("no"))).toEqual(err("no"));
      await orders.pay(aPaidOrder({ id: orderId(2) }));
      await place(5);
      await place(6, ok(undefined), { accountId: other });
      expect(seen).toEqual([0, 1, 2, 1, 0]);
      expect((await orders.list(owner, 9, undefined)).map(({ id }) => id)).toEqual([5, 3, 2, 1].map(orderId));
      expect(await orders.find(orderId(3))).toEqual(aPendingOrder({ id: orderId(3) }));
    });

    it("counts orders that are placed concurrently", async () => {
      const { orders } = stores;
      const placed = await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          orders.place(aPendingOrder({ id: orderId(n + 1) }), secondsAfter(noon, -60), (pending) =>
            pending < 4 ? ok(undefined) : err("full"),
          ),
        ),
      );
      expect(placed.filter((result) => result.isOk())).toHaveLength(4);
      expect(await orders.list(owner, 50, undefined)).toHaveLength(4);
    });

    it("applies a refund once, repeated, reordered or before the payment", async () => {
      const { orders, ledger } = stores;
      const checkout = anOrderCheckout({ priceCents: 900 });
      const paidOrder = aPaidOrder({ checkout, paymentId: "pi_1" });
      const refund = { id: "re_1", kind: "refund", cents: 300, at: noon } as const;
      const failed = { ...refund, failedAt: secondsAfter(noon, 9) };
      await orders.insert(aPendingOrder({ checkout }));
      expect(await orders.recordReturn("pi_1", refund, noon)).toBeUndefined();
      await orders.pay(paidOrder);
      expect(await ledger.balance(owner)).toBe(67);
      const again = await orders.recordReturn("pi_1", refund, noon);
      expect(again).toEqual({ order: { ...paidOrder, state: "partly_refunded", takenBack: 33 }, change: 0 });
      expect(await orders.find(paidOrder.id)).toEqual(again?.order);
      for (const change of [33, 0]) {
        expect(await orders.recordReturn("pi_1", failed, noon)).toEqual({ order: paidOrder, change });
      }
      expect(await orders.recordReturn("pi_1", refund, noon)).toMatchObject({ change: 0 });
      expect((await ledger.entries(owner)).map(({ kind, credits }) => [kind, credits])).toEqual([
        ["purchase", 100],
        ["payment_refund", -33],
        ["payment_restored", 33],
      ]);
      expect(await orders.returns(paidOrder.id)).toEqual([failed]);
      expect(await orders.countPaid(owner)).toBe(1);
    });

    it("takes back once what is refunded twice while its order is paid", async () => {
      const { orders, ledger } = stores;
      const checkout = anOrderCheckout({ priceCents: 900 });
      for (let n = 1; n <= 12; n += 1) {
        await orders.insert(aPendingOrder({ id: orderId(n), checkout }));
        const [refund, paymentId] = [{ id: `re_${n}`, kind: "refund", cents: 300, at: noon } as const, `pi_${n}`];
        await Promise.all([
          orders.pay(aPaidOrder({ id: orderId(n), checkout, paymentId })),
          ...[1, 2].map(() => orders.recordReturn(paymentId, refund, noon)),
        ]);
        expect([n, await ledger.balance(owner)]).toEqual([n, n * 67]);
      }
    });

    it("takes back at most the credits not taken back before", async () => {
      const { orders, ledger } = stores;
      await orders.insert(aPendingOrder());
      await orders.pay(aPaidOrder());
      const take = (n: number) =>
        orders.returnByHand(orderId(1), noon, (_, returns) => {
          if (returns.length >= 2) return err("enough" as const);
          const reason = `no ${n}` as AdjustmentReason;
          return ok({
            id: `hand_${returns.length}`,
            kind: "operator",
            credits: credits(30),
            reason,
            at: secondsAfter(noon, n),
          });
        });
      const taken = await Promise.all([1, 2, 3, 4].map(take));
      expect(taken.filter((result) => result.isOk())).toHaveLength(2);
      expect(await orders.find(orderId(1))).toMatchObject({ state: "partly_refunded", takenBack: 60 });
      expect(await ledger.balance(owner)).toBe(40);
      await expect(orders.returnByHand(orderId(9), noon, () => err("no"))).rejects.toThrow(orderId(9));
    });

    it("lists the orders of all accounts, newest first, by account, state and time", async () => {
      const { orders } = stores;
      await open(other);
      await orders.insert(aPendingOrder());
      await orders.insert(aPendingOrder({ id: orderId(2), accountId: other, createdAt: secondsAfter(noon, 60) }));
      await orders.insert(aPendingOrder({ id: orderId(3), createdAt: secondsAfter(noon, 61) }));
      await orders.pay(aPaidOrder({ id: orderId(3) }));
      const listed = async (filter: Parameters<typeof orders.listAll>[0], limit = 9, before?: number) =>
        (await orders.listAll(filter, limit, before === undefined ? undefined : orderId(before))).map(({ id }) => id);
      expect(await listed({})).toEqual([3, 2, 1].map(orderId));
      expect(await listed({}, 1, 3)).toEqual([orderId(2)]);
      expect(await listed({ isPending: true })).toEqual([2, 1].map(orderId));
      expect(await listed({ account: owner })).toEqual([3, 1].map(orderId));
      expect(await listed({ from: secondsAfter(noon, 60), isPending: true })).toEqual([orderId(2)]);
    });

    it("deletes returns of unreported payments after 30 days", async () => {
      const { orders } = stores;
      const checkout = anOrderCheckout();
      const refund = (id: string) => ({ id, kind: "refund", cents: 900, at: noon }) as const;
      await orders.recordReturn("pi_1", refund("re_1"), noon);
      await orders.recordReturn("pi_2", refund("re_2"), secondsAfter(noon, 31 * 24 * 60 * 60));
      await orders.insert(aPendingOrder({ checkout }));
      await orders.pay(aPaidOrder({ checkout, paymentId: "pi_1" }));
      expect(await orders.returns(orderId(1))).toEqual([]);
    });
  });
