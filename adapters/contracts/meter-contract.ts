import fc from "fast-check";
import { ok, type Result } from "neverthrow";
import { type Meter, meter, type TaskHold } from "../../application/credits/meter.js";
import type { MeterStore } from "../../application/ports/stores/meter-store.js";
import { accountId } from "../../domain/account-id.js";
import { credits } from "../../domain/credits/credits.js";
import { idempotencyKey } from "../../domain/credits/idempotency.js";
import { audit, type LedgerCursor, type LedgerEntry, sumOf } from "../../domain/credits/ledger.js";
import { orderId } from "../../domain/credits/order.js";
import { definePolicy } from "../../domain/credits/policy.js";
import type { Reservation } from "../../domain/credits/reservation.js";
import { HandClock } from "../memory/hand-clock.js";
import type { MeterStoreUnderTest } from "./meter-store-contract.js";
import { expect } from "./support/expect.js";
import type { TestFunctions } from "./support/test-functions.js";

const policy = definePolicy({
  prices: { draft: 1, print: 3 },
  rates: { render: { limit: 4, windowSeconds: 10 } },
  activeMax: 2,
  idempotencyHours: 1,
  holdSeconds: 20,
});
const acme = accountId("acme");
/** How much the clocks of the other processes are ahead: more than any lease or window of the policy. */
const AHEAD_MILLISECONDS = [90_000, -90_000];

/** `process`: the number of the one that runs it. */
type Command = (
  | { readonly do: "hold"; readonly price: "draft" | "print"; readonly rate?: "render"; readonly key?: string }
  | { readonly do: "capture" | "refund" | "renew"; readonly nth: number }
  | { readonly do: "purchase"; readonly order: number }
  | { readonly do: "wait"; readonly milliseconds: number }
) & { readonly process: number };

const price = fc.constantFrom("draft" as const, "print" as const);
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("hold" as const),
      price,
      rate: fc.constantFrom("render" as const, undefined),
      key: fc.constantFrom("a", "b", undefined, undefined),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom("capture", "capture", "refund", "refund", "renew"), nth: fc.nat(5) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("purchase" as const), order: fc.nat(2) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("wait" as const),
      milliseconds: fc.constantFrom(1, 500, 4_999, 9_999, 10_000, 19_999, 20_000, 3_600_000),
    }),
  },
);
const command = fc
  .tuple(action, fc.nat(AHEAD_MILLISECONDS.length))
  .map(([action, process]) => ({ ...action, process }) as Command);

/** What a hold must be, by the words of the documentation. */
type ModelHold = {
  readonly handle: TaskHold;
  readonly request: string;
  readonly heldAt: number;
  expiresAt: number;
  state: Reservation["state"];
};

class Model {
  readonly orders = new Set<number>();
  readonly holds: ModelHold[] = [];
  readonly byKey = new Map<string, ModelHold>();
  requests: number[] = [];

  get balance(): number {
    const bought = [...this.orders].reduce((sum, order) => sum + amountOf(order), 0);
    const kept = this.holds.filter(({ state }) => state !== "refunded");
    return bought - kept.reduce((sum, { handle }) => sum + handle.credits, 0);
  }

  get active(): number {
    return this.holds.filter(({ state }) => state === "held").length;
  }

  expire(now: number): void {
    for (const hold of this.holds) if (hold.state === "held" && hold.expiresAt <= now) hold.state = "refunded";
  }
}

type Product = Meter<"draft" | "print", "render">;

const amountOf = (order: number): number => 2 + 3 * order;

const allEntries = async (store: MeterStore): Promise<LedgerEntry[]> => {
  const entries: LedgerEntry[] = [];
  for (let before: LedgerCursor | undefined; ; ) {
    const lines = await store.entries(acme, 7, before);
    if (lines.length === 0) return entries.reverse();
    entries.push(...lines.map(({ entry }) => entry));
    before = lines.at(-1)?.cursor;
  }
};

/** `runs`: how many random sequences of commands are compared with the model. */
export const describeMeter = (
  { describe, it }: Pick<TestFunctions, "describe" | "it">,
  technology: string,
  open: (clock: HandClock) => Promise<MeterStoreUnderTest>,
  runs = 200,
): void => {
  describe(`a meter ${technology}`, () => {
    it("does what its documentation says in random sequences of calls", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
          const clock = new HandClock();
          const { store, elsewhere, close } = await open(clock);
          const others = elsewhere === undefined ? [] : AHEAD_MILLISECONDS.map(elsewhere);
          const processes = [store, ...others].map((store) => meter({ policy, store }));
          const model = new Model();
          for (const next of commands) {
            if (next.do === "wait") {
              await clock.advance(next.milliseconds);
              continue;
            }
            const pdf = processes[next.process % processes.length] as Product;
            const now = clock.now().getTime();
            model.expire(now);
            if (next.do === "hold") {
              const { price, rate, key } = next;
              const idempotent = key === undefined ? {} : { idempotencyKey: idempotencyKey(key) };
              const held = await pdf.hold(acme, { price, rate, ...idempotent });
              const recent = model.requests.filter((at) => now - at < 10_000).length;
              const known = key === undefined ? undefined : model.byKey.get(key);
              const remembered = known !== undefined && now - known.heldAt < 3_600_000 ? known : undefined;
              const cost = policy.prices[price];
              if (rate !== undefined && recent >= 4) expect(kindOf(held)).toBe("rate_limited");
              else {
                if (rate !== undefined) model.requests.push(now);
                if (remembered !== undefined) {
                  if (remembered.request !== price) expect(kindOf(held)).toBe("invalid_request");
                  else {
                    const { taskId } = remembered.handle;
                    expect(held._unsafeUnwrap()).toMatchObject({ taskId, state: remembered.state, replayed: true });
                    expect(held._unsafeUnwrap().expiresAt.getTime()).toBe(remembered.expiresAt);
                  }
                } else if (model.balance < cost) expect(kindOf(held)).toBe("insufficient_credits");
                else if (model.active >= 2) expect(kindOf(held)).toBe("too_many_active_tasks");
                else {
                  const handle = held._unsafeUnwrap();
                  expect(handle).toMatchObject({ credits: cost, state: "held", replayed: false });
                  const hold: ModelHold = {
                    handle,
                    request: price,
                    heldAt: now,
                    expiresAt: now + 20_000,
                    state: "held",
                  };
                  model.holds.push(hold);
                  if (key !== undefined) model.byKey.set(key, hold);
                }
              }
            } else if (next.do === "purchase") {
              model.orders.add(next.order);
              const order = { orderId: orderId(`order-${next.order}`), credits: credits(amountOf(next.order)) };
              expect(await pdf.purchase(acme, order)).toBe(model.balance);
            } else {
              const hold = model.holds[next.nth];
              if (hold === undefined) continue;
              const wanted = next.do === "capture" ? "captured" : next.do === "refund" ? "refunded" : undefined;
              const before = hold.state;
              if (before === "held") {
                if (wanted === undefined) hold.expiresAt = now + 20_000;
                else hold.state = wanted;
              }
              const { taskId } = hold.handle;
              const handle = next.process === 0 ? hold.handle : ((await pdf.find(acme, taskId)) as TaskHold);
              const result = await handle[next.do]();
              if (before === "held" || before === wanted) expect(result.isOk()).toBe(true);
              else expect(result._unsafeUnwrapErr()).toEqual({ kind: "already_resolved", as: before });
            }
            expect(await pdf.balance(acme)).toBe(model.balance);
          }
          model.expire(clock.now().getTime());
          const pdf = meter({ policy, store });
          const balance = await pdf.balance(acme);
          const entries = await allEntries(store);
          expect(balance).toBe(model.balance);
          expect(sumOf(entries)).toBe(balance);
          const found = await Promise.all(model.holds.map(({ handle }) => pdf.find(acme, handle.taskId)));
          expect(found.map((hold) => hold?.state)).toEqual(model.holds.map(({ state }) => state));
          const tasks = model.holds.map(({ handle, state }) => ({
            id: handle.taskId,
            state,
            reservation: { taskId: handle.taskId, accountId: acme, credits: handle.credits, state } as Reservation,
          }));
          expect(audit({ credits: balance, activeTasks: model.active }, entries, tasks)).toEqual([]);
          const times = entries.map(({ at }) => at.getTime());
          expect(times).toEqual(times.toSorted((a, b) => a - b));
          await close();
        }),
        { numRuns: runs },
      );
    });

    it("never exceeds credits, active tasks or the rate under concurrent calls, and ends each hold once", async () => {
      const clock = new HandClock();
      const { store, close } = await open(clock);
      const pdf = meter({ policy, store });
      const gift = { orderId: orderId("gift"), credits: credits(20) };
      await Promise.all(Array.from({ length: 5 }, () => pdf.purchase(acme, gift)));
      expect(await pdf.balance(acme)).toBe(20);

      const limited = await Promise.all(Array.from({ length: 12 }, () => pdf.admit(acme, "render")));
      expect(limited.filter((result) => result.isOk())).toHaveLength(4);

      let captured = 0;
      for (let round = 0; round < 8; round += 1) {
        const held = await Promise.all(Array.from({ length: 6 }, () => pdf.hold(acme, { price: "print" })));
        const handles = held.flatMap((result) => (result.isOk() ? [result.value] : []));
        const affordable = Math.floor((20 - 3 * captured) / 3);
        expect(handles).toHaveLength(Math.min(2, affordable));
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
      const { store, close } = await open(new HandClock());
      const pdf = meter({ policy, store });
      await pdf.purchase(acme, { orderId: orderId("gift"), credits: credits(20) });
      const request = { price: "print", idempotencyKey: idempotencyKey("upload-7") } as const;
      const held = await Promise.all(Array.from({ length: 8 }, () => pdf.hold(acme, request)));
      const handles = held.map((result) => result._unsafeUnwrap());
      expect(new Set(handles.map(({ taskId }) => taskId)).size).toBe(1);
      expect(handles.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(await pdf.balance(acme)).toBe(17);
      expect(await Promise.all(handles.map((handle) => handle.capture()))).toEqual(handles.map(() => ok(undefined)));
      expect(await pdf.balance(acme)).toBe(17);
      await close();
    });
  });
};

const kindOf = (result: Result<unknown, { readonly kind: string }>): string => result._unsafeUnwrapErr().kind;
