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
    it("is committed or rolled back with what the caller writes", async () => {
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

    it("leaves the transaction as it was if it refuses or throws", async () => {
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

    it("throws if no transaction is open", async () => {
      const { store, idle, close } = await open();
      const pdf = meter({ policy, store }).within(idle);
      await expect(pdf.purchase("acme", { orderId: "order-1", credits: 10 })).rejects.toThrow(/transaction/i);
      expect(await meter({ policy, store }).balance("acme")).toBe(0);
      await close();
    });
  });
};
