import { describe, expect, it } from "vitest";
import { meter } from "../../../application/credits/meter.js";
import type { JoiningMeterStore } from "../../../application/ports/stores/meter-store.js";
import { definePolicy } from "../../../domain/credits/policy.js";

const policy = definePolicy({ prices: { minute: 2 }, rates: {}, activeMax: 5 });

/** A database with a table `job (task_id text)` of the caller, and the store of a meter. */
type Opened<Connection> = {
  readonly store: JoiningMeterStore<Connection>;
  /** Runs `work` in a transaction, and commits or rolls back at its end. */
  transact(end: "commit" | "rollback", work: (connection: Connection) => Promise<void>): Promise<void>;
  insertJob(connection: Connection, taskId: string): Promise<void>;
  jobs(): Promise<readonly string[]>;
  /** A connection on which no transaction is open. */
  readonly idle: Connection;
  close(): Promise<void>;
};

/** What a meter does in a transaction of its caller. */
export const describeJoiningMeter = <Connection>(technology: string, open: () => Promise<Opened<Connection>>): void => {
  describe(`a meter within a transaction of its caller ${technology}`, () => {
    it("commits and rolls back together with the caller's writes", async () => {
      const { store, transact, insertJob, jobs, close } = await open();
      const pdf = meter({ policy, store });
      await pdf.purchase("acme", { orderId: "order-1", credits: 10 });
      let taskId = "";
      for (const end of ["rollback", "commit"] as const) {
        await transact(end, async (connection) => {
          const held = (await pdf.within(connection).hold("acme", { price: "minute", quantity: 3 }))._unsafeUnwrap();
          taskId = held.taskId;
          await insertJob(connection, taskId);
          expect(await pdf.within(connection).balance("acme")).toBe(4);
        });
        expect(await pdf.balance("acme")).toBe(end === "commit" ? 4 : 10);
      }
      expect(await jobs()).toEqual([taskId]);
      expect((await pdf.openHolds("acme")).map((hold) => hold.taskId)).toEqual([taskId]);

      await transact("commit", async (connection) => {
        const hold = await pdf.within(connection).find("acme", taskId);
        expect((await hold?.capture({ credits: 5 }))?.isOk()).toBe(true);
      });
      expect(await pdf.balance("acme")).toBe(5);
      await close();
    });

    it("leaves the transaction unchanged if it refuses or throws", async () => {
      const { store, transact, insertJob, jobs, close } = await open();
      const pdf = meter({ policy, store });
      await transact("commit", async (connection) => {
        await insertJob(connection, "before");
        const refused = await pdf.within(connection).hold("poor", { price: "minute" });
        expect(refused._unsafeUnwrapErr().kind).toBe("insufficient_credits");
        await pdf.within(connection).purchase("poor", { orderId: "o", credits: 1 });
        const twice = pdf.within(connection).purchase("poor", { orderId: "o", credits: 2 });
        await expect(twice).rejects.toThrow("The order o is the purchase of 1 credits");
        await insertJob(connection, "after");
      });
      expect(await jobs()).toEqual(["before", "after"]);
      expect(await pdf.balance("poor")).toBe(1);
      await close();
    });

    it("runs concurrent calls one after the other", async () => {
      const { store, transact, close } = await open();
      const pdf = meter({ policy, store });
      await pdf.purchase("acme", { orderId: "order-1", credits: 10 });
      await transact("commit", async (connection) => {
        const hold = () => pdf.within(connection).hold("acme", { price: "minute", quantity: 2 });
        const held = await Promise.all([hold(), hold(), hold(), pdf.within(connection).balance("acme")]);
        const kinds = held.map((one) => (typeof one === "number" ? one : one.isOk() ? "held" : one.error.kind));
        expect(kinds).toEqual(["held", "held", "insufficient_credits", 2]);
      });
      const sum = (await pdf.ledger("acme")).reduce((sum, { entry }) => sum + entry.credits, 0);
      expect([await pdf.balance("acme"), sum]).toEqual([2, 2]);
      await close();
    });

    it("throws if no transaction is open", async () => {
      const { store, idle, close } = await open();
      const pdf = meter({ policy, store }).within(idle);
      await expect(pdf.purchase("acme", { orderId: "order-1", credits: 10 })).rejects.toThrow(/transaction/i);
      expect(await meter({ policy, store }).balance("acme")).toBe(0);
      await close();
    });
  });

  describe(`the largest balance of a meter ${technology}`, () => {
    const most = 2_147_483_647;
    const reason = "support";

    it("is 2,147,483,647 for credits and debt; a larger value throws and changes nothing", async () => {
      const { store, close } = await open();
      const pdf = meter({ policy, store });
      expect(await pdf.purchase("acme", { orderId: "order-1", credits: most })).toBe(most);
      await expect(pdf.purchase("acme", { orderId: "order-2", credits: 1 })).rejects.toThrow(
        "2147483647 credits, beside 0 that are held, cannot change by 1: the most is 2147483647, also of a debt.",
      );
      const given = { credits: 1, reason, idempotencyKey: "a1" };
      await expect(pdf.adjust("acme", given)).rejects.toThrow(RangeError);
      expect(await pdf.hold("acme", { price: "minute", quantity: most })).toMatchObject({
        error: { kind: "insufficient_credits", balance: most, cost: 2 * most },
      });
      const debt = { credits: -most, reason, idempotencyKey: "a2", allowDebt: true };
      expect((await pdf.adjust("debtor", debt))._unsafeUnwrap()).toBe(-most);
      await expect(pdf.adjust("debtor", { ...debt, credits: -1, idempotencyKey: "a3" })).rejects.toThrow(RangeError);
      const twice = { ...debt, credits: 2 * most, idempotencyKey: "a4" };
      await expect(pdf.adjust("debtor", twice)).rejects.toThrow(RangeError);
      expect([await pdf.balance("acme"), await pdf.balance("debtor")]).toEqual([most, -most]);
      expect([await pdf.ledger("acme"), await pdf.ledger("debtor")].map(({ length }) => length)).toEqual([1, 1]);
      await close();
    });

    it("reserves room for held credits, and for nothing more", async () => {
      const { store, close } = await open();
      const pdf = meter({ policy, store });
      await pdf.purchase("acme", { orderId: "order-1", credits: most });
      const hold = (await pdf.hold("acme", { price: "minute", quantity: 5 }))._unsafeUnwrap();
      await expect(pdf.purchase("acme", { orderId: "order-2", credits: 10 })).rejects.toThrow(RangeError);
      await hold.capture({ credits: 4 });
      expect(await pdf.purchase("acme", { orderId: "order-2", credits: 4 })).toBe(most);
      const refund = { taskId: hold.taskId, credits: 1, reason, idempotencyKey: "r1" };
      await expect(pdf.refund("acme", refund)).rejects.toThrow(RangeError);
      await pdf.adjust("acme", { credits: -1, reason, idempotencyKey: "a1" });
      expect((await pdf.refund("acme", refund))._unsafeUnwrap()).toBe(most);
      await close();
    });
  });
};
