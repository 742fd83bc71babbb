import { randomUUID } from "node:crypto";
import { ok } from "neverthrow";
import { afterEach, describe, expect, it, vi } from "vitest";
import { SqlMeterStore } from "../../../adapters/persistence/credits/sql-meter-store.js";
import type { Database } from "../../../adapters/persistence/database/sql/database.js";
import { meter } from "../../../application/credits/meter.js";
import { credits } from "../../../domain/credits/credits.js";
import { orderId } from "../../../domain/credits/order.js";
import { definePolicy } from "../../../domain/credits/policy.js";
import { accountId, taskId } from "../../../domain/ids.js";

const ids = { taskId: () => taskId(randomUUID()) };
const rates = { render: { limit: 3, windowSeconds: 60 } };
const policy = definePolicy({ prices: { print: 3 }, rates, activeMax: 10, holdSeconds: 60 });
const acme = accountId("acme");

/** Two processes, each with its own connection to one empty database, whose clocks differ by three minutes. */
export const describeMeterClocks = (
  technology: string,
  open: () => Promise<{ readonly databases: readonly [Database, Database]; close(): Promise<void> }>,
): void => {
  describe(`meters in processes with wrong clocks ${technology}`, () => {
    afterEach(() => void vi.useRealTimers());

    it("decide by the time of the database", async () => {
      const { databases, close } = await open();
      const meters = databases.map((database) => meter({ policy, store: new SqlMeterStore(database, ids) }));
      type Product = (typeof meters)[number];
      const [first, second] = meters as [Product, Product];
      const at = async <Answer>(aheadMilliseconds: number, call: () => Promise<Answer>): Promise<Answer> => {
        vi.useRealTimers();
        vi.setSystemTime(Date.now() + aheadMilliseconds);
        return call().finally(() => vi.useRealTimers());
      };
      const behind = <Answer>(call: (pdf: Product) => Promise<Answer>) => at(-90_000, () => call(first));
      const ahead = <Answer>(call: (pdf: Product) => Promise<Answer>) => at(90_000, () => call(second));

      await behind((pdf) => pdf.purchase(acme, { orderId: orderId("order-1"), credits: credits(100) }));
      const request = { price: "print", rate: "render" } as const;
      const hold = (await behind((pdf) => pdf.hold(acme, request)))._unsafeUnwrap();
      expect(Math.abs(hold.expiresAt.getTime() - Date.now() - 60_000)).toBeLessThan(30_000);
      (await ahead((pdf) => pdf.hold(acme, request)))._unsafeUnwrap();
      (await behind((pdf) => pdf.hold(acme, request)))._unsafeUnwrap();
      expect((await ahead((pdf) => pdf.admit(acme, "render")))._unsafeUnwrapErr().kind).toBe("rate_limited");
      expect(await ahead((pdf) => pdf.balance(acme))).toBe(91);
      expect(await behind(() => hold.capture())).toEqual(ok(undefined));
      for (const { entry } of await ahead((pdf) => pdf.ledger(acme))) {
        expect(Math.abs(entry.at.getTime() - Date.now())).toBeLessThan(30_000);
      }
      await close();
    });
  });
};
