import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { credits } from "../../../domain/credits.js";
import { pay } from "../../../domain/order.js";
import { accountId, anAccount, aPaidOrder, aPendingOrder, noon, orderId, secondsAfter } from "../builders.js";
import type { Stores } from "./stores.js";

/** What every OrderStore must do (application/ports/order-store.ts). */
export const describeOrderStore = (technology: string, makeStores: () => Promise<Stores>) =>
  describe(`OrderStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    const pending = aPendingOrder({ credits: credits(7) });
    const paid = pay(pending, secondsAfter(noon, 60))._unsafeUnwrap();
    let stores: Stores;

    const open = (id = owner) => stores.accounts.open(anAccount({ id }), undefined, undefined, undefined);

    beforeEach(async () => {
      stores = await makeStores();
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
      expect(await orders.list(owner)).toEqual([second, aPaidOrder()]);
    });
  });
