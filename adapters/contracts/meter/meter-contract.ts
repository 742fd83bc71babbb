import fc from "fast-check";
import { ok } from "neverthrow";
import { meter } from "../../../application/credits/meter.js";
import { credits } from "../../../domain/credits/credits.js";
import { idempotencyKey } from "../../../domain/credits/idempotency.js";
import { sumOf } from "../../../domain/credits/ledger.js";
import { orderId } from "../../../domain/credits/order.js";
import { HandClock } from "../../memory/hand-clock.js";
import { checkProperty } from "../support/check-property.js";
import { expect } from "../support/expect.js";
import { inChangingZones } from "../support/in-changing-zones.js";
import { type SuiteOptions, type TestFunctions, timed } from "../support/test-functions.js";
import { allEntries, compareWithModel, heldOf, metersOf } from "./compare-with-model.js";
import { meterCommand } from "./meter-commands.js";
import { acme, type Product, policy } from "./meter-model.js";
import type { MeterStoreUnderTest } from "./meter-store-contract.js";

/** Contract of a meter on the store. By default 200 random sequences of calls are compared with a model. */
export const describeMeter = (
  test: Pick<TestFunctions, "describe" | "it">,
  technology: string,
  open: (clock: HandClock) => Promise<MeterStoreUnderTest>,
  options: SuiteOptions = {},
): void => {
  const { describe, it } = timed(test, options);
  const openInChangingZones = async (clock: HandClock) => inChangingZones(await open(clock));

  describe(`a meter ${technology}`, () => {
    it("matches the model in random sequences of calls", async () => {
      await checkProperty(
        fc.asyncProperty(fc.array(meterCommand, { minLength: 5, maxLength: 40 }), async (commands) => {
          const clock = new HandClock();
          const tested = await openInChangingZones(clock);
          try {
            await compareWithModel(commands, clock, tested);
          } finally {
            await tested.close();
          }
        }),
        { numRuns: 200 },
        options,
      );
    });

    it("never exceeds credits, active tasks or the rate under concurrent calls, and ends each hold once", async () => {
      const tested = await openInChangingZones(new HandClock());
      const { store, close } = tested;
      const processes = metersOf(tested);
      /** As many calls at the same time, by all processes in turn. */
      const atOnce = <Answer>(length: number, call: (pdf: Product) => Promise<Answer>): Promise<Answer[]> =>
        Promise.all(Array.from({ length }, (_, n) => call(processes[n % processes.length] as Product)));
      const pdf = meter({ policy, store });
      const gift = { orderId: orderId("gift"), credits: credits(20) };
      await atOnce(5, (pdf) => pdf.purchase(acme, gift));
      expect(await pdf.balance(acme)).toBe(20);

      const limited = await atOnce(12, (pdf) => pdf.admit(acme, "render"));
      expect({ admitted: limited.filter((result) => result.isOk()).length }).toEqual({ admitted: 4 });

      let captured = 0;
      for (let round = 0; round < 8; round += 1) {
        const held = await atOnce(6, (pdf) => pdf.hold(acme, { price: "print" }));
        const handles = held.flatMap((result) => (result.isOk() ? [result.value] : []));
        const affordable = Math.floor((20 - 3 * captured) / 3);
        expect({ holdsAtOnce: handles.length }).toEqual({ holdsAtOnce: Math.min(2, affordable) });
        const ends = await Promise.all(
          handles.flatMap((handle) => [handle.capture(), handle.refund(), handle.capture(), handle.refund()]),
        );
        for (let at = 0; at < ends.length; at += 4) {
          const [first, second, third, fourth] = ends.slice(at, at + 4).map((end) => end.isOk());
          expect([first === third, second === fourth, first === second]).toEqual([true, true, false]);
          if (first) captured += 1;
        }
      }
      expect(await pdf.balance(acme)).toBe(20 - 3 * captured);
      expect(sumOf(await allEntries(store))).toBe(20 - 3 * captured);
      await close();
    });

    it("makes one hold of concurrent calls with one idempotency key", async () => {
      const { store, close } = await openInChangingZones(new HandClock());
      const pdf = meter({ policy, store });
      await pdf.purchase(acme, { orderId: orderId("gift"), credits: credits(20) });
      const request = { price: "print", idempotencyKey: idempotencyKey("upload-7") } as const;
      const held = await Promise.all(Array.from({ length: 8 }, () => pdf.hold(acme, request)));
      const handles = held.map(heldOf);
      expect({ holdsOfOneKey: new Set(handles.map(({ taskId }) => taskId)).size }).toEqual({ holdsOfOneKey: 1 });
      expect(handles.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(await pdf.balance(acme)).toBe(17);
      expect(await Promise.all(handles.map((handle) => handle.capture()))).toEqual(handles.map(() => ok(undefined)));
      expect(await pdf.balance(acme)).toBe(17);
      await close();
    });
  });
};
