import { err, ok, type Result } from "neverthrow";
import { credits } from "../../domain/credits/credits.js";
import { pay } from "../../domain/credits/order.js";
import {
  accountId,
  anAccount,
  anOrderCheckout,
  aPaidOrder,
  aPendingOrder,
  noon,
  orderId,
  secondsAfter,
} from "./support/builders.js";
import { expect } from "./support/expect.js";
import { inChangingZones } from "./support/in-changing-zones.js";
import type { Stores } from "./support/stores.js";
import type { TestFunctions } from "./support/test-functions.js";

/** What every OrderStore must do (application/ports/stores/order-store.ts). */
export const describeOrderStore = (
  { describe, it, beforeEach, afterEach }: TestFunctions,
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "ledger" | "orders" | "close">>,
): void =>
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

    it("throws when it inserts an order of an unknown account", async () => {
      await expect(stores.orders.insert(aPendingOrder({ accountId: other }))).rejects.toThrow();
    });

    it("stores a pending order and adds no credits", async () => {
      const { orders, ledger } = stores;
      await orders.insert(pending);
      expect(await orders.find(pending.id)).toEqual(pending);
      expect(await orders.find(orderId(99))).toBeUndefined();
      expect(await ledger.balance(owner)).toBe(0);
      expect(await orders.countPaid(owner)).toBe(0);
    });

    it("adds the credits and a ledger entry when the order is paid", async () => {
      const { orders, ledger } = stores;
      await orders.insert(pending);
      await orders.pay(paid);
      expect(await orders.find(pending.id)).toEqual(paid);
      expect(await ledger.balance(owner)).toBe(7);
      expect(await orders.countPaid(owner)).toBe(1);
      expect(await ledger.entries(owner)).toEqual([
        { kind: "purchase", accountId: owner, orderId: pending.id, credits: 7, at: secondsAfter(noon, 60) },
      ]);
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

    it("stores the checkout of an order once, and keeps it when the order is paid", async () => {
      const { orders } = stores;
      await orders.insert(pending);
      const checkout = anOrderCheckout();
      await orders.recordCheckout(pending.id, checkout);
      await orders.recordCheckout(pending.id, anOrderCheckout({ sessionId: "cs_test_2", priceCents: 1 }));
      await orders.recordCheckout(orderId(99), checkout);
      expect(await orders.find(pending.id)).toEqual({ ...pending, checkout });
      await orders.pay({ ...paid, checkout });
      expect(await orders.list(owner, 9, undefined)).toEqual([{ ...paid, checkout }]);
      await orders.insert(aPendingOrder({ id: orderId(2), checkout }));
      expect(await orders.find(orderId(2))).toEqual(aPendingOrder({ id: orderId(2), checkout }));
    });

    it("counts and credits a paid order for its own account only", async () => {
      const { orders, ledger } = stores;
      await open(other);
      await orders.insert(pending);
      await orders.pay(paid);
      expect(await orders.countPaid(other)).toBe(0);
      expect(await ledger.balance(other)).toBe(0);
      expect(await ledger.entries(other)).toEqual([]);
    });

    it("lists the account's own orders, newest first", async () => {
      const { orders } = stores;
      await open(other);
      const second = aPendingOrder({ id: orderId(2) });
      await orders.insert(aPendingOrder());
      await orders.insert(second);
      await orders.insert(aPendingOrder({ id: orderId(3), accountId: other }));
      await orders.pay(aPaidOrder());
      expect(await orders.list(owner, 20, undefined)).toEqual([second, aPaidOrder()]);
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

    it("throws when it places an order of an unknown account", async () => {
      const place = stores.orders.place(aPendingOrder({ accountId: other }), noon, () => ok(undefined));
      await expect(place).rejects.toThrow();
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
  });
