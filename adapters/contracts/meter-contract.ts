import fc from "fast-check";
import { ok, type Result } from "neverthrow";
import { meter } from "../../application/credits/meter.js";
import type { Meter, TaskHold } from "../../application/credits/meter-types.js";
import type { MeterStore } from "../../application/ports/stores/meter-store.js";
import { credits } from "../../domain/credits/credits.js";
import { idempotencyKey } from "../../domain/credits/idempotency.js";
import { sumOf } from "../../domain/credits/ledger.js";
import type { LedgerCursor } from "../../domain/credits/ledger-page.js";
import type { MeterEntry } from "../../domain/credits/meter-entry.js";
import { orderId } from "../../domain/credits/order.js";
import { definePolicy } from "../../domain/credits/policy.js";
import type { Reservation } from "../../domain/credits/reservation.js";
import { accountId } from "../../domain/ids.js";
import { HandClock } from "../memory/hand-clock.js";
import type { MeterStoreUnderTest } from "./meter-store-contract.js";
import { checkProperty } from "./support/check-property.js";
import { expect } from "./support/expect.js";
import { inChangingZones } from "./support/in-changing-zones.js";
import { type SuiteOptions, type TestFunctions, timed } from "./support/test-functions.js";

const policy = definePolicy({
  prices: { draft: 1, print: 3 },
  rates: { render: { limit: 4, windowSeconds: 10 } },
  activeMax: 2,
  idempotencyHours: 1,
  holdSeconds: 20,
});
const acme = accountId("acme");
/** Time by which the clocks of the other processes are ahead: more than any lease or window of the policy. */
const AHEAD_MILLISECONDS = [90_000, -90_000];

/** `process`: the number of the one that runs it. */
type Command = (
  | {
      readonly do: "hold";
      readonly price: "draft" | "print";
      readonly quantity?: number;
      readonly rate?: "render";
      readonly key?: string;
    }
  | { readonly do: "capture"; readonly nth: number; readonly part?: number }
  | { readonly do: "refund" | "renew"; readonly nth: number }
  | { readonly do: "refundLater"; readonly nth: number; readonly part?: number; readonly key: string }
  | { readonly do: "adjust"; readonly credits: number; readonly allowDebt: boolean; readonly key: string }
  | { readonly do: "purchase"; readonly order: number }
  | { readonly do: "wait"; readonly milliseconds: number }
) & { readonly process: number };

const correctionKey = fc.constantFrom("k1", "k2", "k3", "k4");
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("hold" as const),
      price: fc.constantFrom("draft" as const, "print" as const),
      quantity: fc.constantFrom(undefined, undefined, 1, 2),
      rate: fc.constantFrom("render" as const, undefined),
      key: fc.constantFrom("a", "b", undefined, undefined),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("capture"),
      nth: fc.nat(5),
      part: fc.constantFrom(undefined, undefined, 0, 1, 2),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("refund", "refund", "renew"), nth: fc.nat(5) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("refundLater"),
      nth: fc.nat(5),
      part: fc.constantFrom(undefined, 0, 1, 2),
      key: correctionKey,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("adjust"),
      credits: fc.integer({ min: -6, max: 3 }),
      allowDebt: fc.boolean(),
      key: correctionKey,
    }),
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

/** Expected hold, by the words of the documentation. */
type ModelHold = {
  readonly handle: TaskHold;
  readonly request: string;
  readonly heldAt: number;
  expiresAt: number;
  state: Reservation["state"];
  captured: number;
  refundedLater: number;
};

class Model {
  readonly orders = new Set<number>();
  readonly holds: ModelHold[] = [];
  readonly byKey = new Map<string, ModelHold>();
  /** Purpose of a refund or an adjustment with this key. */
  readonly corrections = new Map<string, { readonly of: ModelHold | "adjust"; readonly credits: number }>();
  adjusted = 0;
  requests: number[] = [];

  get balance(): number {
    const bought = [...this.orders].reduce((sum, order) => sum + amountOf(order), 0);
    return bought + this.adjusted - this.holds.reduce((sum, hold) => sum + keptBy(hold), 0);
  }

  get active(): readonly ModelHold[] {
    return this.holds.filter(({ state }) => state === "held");
  }

  expire(now: number): void {
    for (const hold of this.holds) if (hold.state === "held" && hold.expiresAt <= now) hold.state = "refunded";
  }
}

/** The credits that a hold keeps from the balance. */
const keptBy = ({ state, handle, captured, refundedLater }: ModelHold): number => {
  if (state === "held") return handle.credits;
  return state === "captured" ? captured - refundedLater : 0;
};

type Product = Meter<"draft" | "print", "render">;

const amountOf = (order: number): number => 2 + 3 * order;

const allEntries = async (store: MeterStore): Promise<MeterEntry[]> => {
  const entries: MeterEntry[] = [];
  for (let before: LedgerCursor | undefined; ; ) {
    const lines = await store.entries(acme, 7, before);
    if (lines.length === 0) return entries.reverse();
    entries.push(...lines.map(({ entry }) => entry));
    before = lines.at(-1)?.cursor;
  }
};

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
        fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
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

/** A meter for each process. */
const metersOf = ({ store, elsewhere }: MeterStoreUnderTest): readonly Product[] => {
  const others = elsewhere === undefined ? [] : AHEAD_MILLISECONDS.map((ahead) => inChangingZones(elsewhere(ahead)));
  return [store, ...others].map((store) => meter({ policy, store }));
};

/** Runs the commands with a meter for each process, and compares every answer and what is stored with the model. */
const compareWithModel = async (
  commands: readonly Command[],
  clock: HandClock,
  tested: MeterStoreUnderTest,
): Promise<void> => {
  const processes = metersOf(tested);
  const model = new Model();
  for (const next of commands) {
    if (next.do === "wait") {
      await clock.advance(next.milliseconds);
      continue;
    }
    const pdf = processes[next.process % processes.length] as Product;
    const now = clock.now().getTime();
    model.expire(now);
    if (next.do === "hold") await holdAsModel(pdf, model, next, now);
    else if (next.do === "adjust") await adjustAsModel(pdf, model, next);
    else if (next.do === "purchase") {
      model.orders.add(next.order);
      const order = { orderId: `order-${next.order}`, credits: amountOf(next.order) };
      expect(await pdf.purchase(acme, order)).toBe(model.balance);
    } else {
      const hold = model.holds[next.nth];
      if (hold === undefined) continue;
      if (next.do === "refundLater") await refundAsModel(pdf, model, hold, next);
      else await endAsModel(next.process === 0 ? hold.handle : await found(pdf, hold), hold, next, now);
    }
    expect({ balance: await pdf.balance(acme) }).toEqual({ balance: model.balance });
  }
  model.expire(clock.now().getTime());
  const { store } = tested;
  const pdf = meter({ policy, store });
  const openIds = (await pdf.openHolds(acme)).map(({ taskId }) => taskId);
  const openHolds = model.active.map(({ handle }) => handle.taskId).sort();
  expect({ openHolds: openIds.toSorted() }).toEqual({ openHolds });
  for (const hold of model.holds) {
    const spent = hold.state === "captured" ? hold.captured - hold.refundedLater : 0;
    expect(await found(pdf, hold)).toMatchObject({ state: hold.state, spent, credits: hold.handle.credits });
  }
  await pdf.ledger(acme); // adds the refunds of leases that are over
  const entries = await allEntries(store);
  const { balance } = model;
  expect({ balance: await pdf.balance(acme), sumOfEntries: sumOf(entries) }).toEqual({
    balance,
    sumOfEntries: balance,
  });
  expect(creditsByTask(entries)).toEqual(new Map(model.holds.map((hold) => [hold.handle.taskId, keptBy(hold)])));
  const times = entries.map(({ at }) => at.getTime());
  expect(times).toEqual(times.toSorted((a, b) => a - b));
};

type Do<Kind extends Command["do"]> = Extract<Command, { readonly do: Kind }>;

const holdAsModel = async (pdf: Product, model: Model, next: Do<"hold">, now: number): Promise<void> => {
  const { price, quantity = 1, rate, key } = next;
  const held = await pdf.hold(acme, { price, quantity: next.quantity, rate, idempotencyKey: key });
  const recent = model.requests.filter((at) => now - at < 10_000).length;
  const known = key === undefined ? undefined : model.byKey.get(key);
  const isRemembered = known?.state === "held" || now - (known?.heldAt ?? 0) < 3_600_000;
  const remembered = isRemembered ? known : undefined;
  const cost = policy.prices[price] * quantity;
  const request = `${quantity} ${price}`;
  if (rate !== undefined && recent >= 4) return expect(kindOf(held)).toBe("rate_limited");
  if (rate !== undefined) model.requests.push(now);
  if (remembered !== undefined) {
    if (remembered.request !== request) return expect(kindOf(held)).toBe("key_reused");
    const { taskId } = remembered.handle;
    expect(heldOf(held)).toMatchObject({ taskId, state: remembered.state, replayed: true });
    expect(heldOf(held).expiresAt.getTime()).toBe(remembered.expiresAt);
    return;
  }
  if (Math.max(0, model.balance) < cost) return expect(kindOf(held)).toBe("insufficient_credits");
  if (model.active.length >= 2) return expect(kindOf(held)).toBe("too_many_active_tasks");
  const handle = heldOf(held);
  expect(handle).toMatchObject({ credits: cost, state: "held", spent: 0, replayed: false });
  const times = { heldAt: now, expiresAt: now + 20_000 };
  const hold: ModelHold = { handle, request, ...times, state: "held", captured: 0, refundedLater: 0 };
  model.holds.push(hold);
  if (key !== undefined) model.byKey.set(key, hold);
};

const endAsModel = async (
  handle: TaskHold,
  hold: ModelHold,
  next: Do<"capture" | "refund" | "renew">,
  now: number,
): Promise<void> => {
  const { credits: held } = hold.handle;
  const part = next.do === "capture" ? (next.part ?? held) : 0;
  const call = () =>
    next.do === "capture" && next.part !== undefined ? handle.capture({ credits: part }) : handle[next.do]();
  if (part > held && hold.state === "held") return expect(call()).rejects.toThrow(`${part} cannot be captured`);
  const before = hold.state;
  const isSame = before === "captured" ? next.do === "capture" && hold.captured === part : next.do === "refund";
  const result = await call();
  if (before !== "held" && !isSame) {
    return expect(refusalOf(result)).toEqual({ kind: "already_resolved", as: before });
  }
  expect(result.isOk()).toBe(true);
  if (before !== "held") return;
  if (next.do === "renew") hold.expiresAt = now + 20_000;
  else hold.state = next.do === "capture" ? "captured" : "refunded";
  hold.captured = part;
};

const refundAsModel = async (pdf: Product, model: Model, hold: ModelHold, next: Do<"refundLater">): Promise<void> => {
  const { part, key } = next;
  const request = { taskId: hold.handle.taskId, credits: part, reason: "too slow", idempotencyKey: key };
  const refunded = await pdf.refund(acme, request);
  const known = model.corrections.get(key);
  if (known !== undefined) {
    const isSame = known.of === hold && (part ?? known.credits) === known.credits;
    return isSame ? expect(refunded).toEqual(ok(model.balance)) : expect(kindOf(refunded)).toBe("key_reused");
  }
  if (hold.state !== "captured") {
    return expect(refusalOf(refunded)).toEqual({ kind: "not_captured", state: hold.state });
  }
  const refundable = hold.captured - hold.refundedLater;
  if (refundable === 0 || (part ?? 0) > refundable) {
    return expect(refusalOf(refunded)).toEqual({ kind: "refund_too_high", refundable });
  }
  hold.refundedLater += part ?? refundable;
  model.corrections.set(key, { of: hold, credits: part ?? refundable });
  expect(refunded).toEqual(ok(model.balance));
};

const adjustAsModel = async (pdf: Product, model: Model, next: Do<"adjust">): Promise<void> => {
  const { credits: amount, allowDebt, key } = next;
  const request = { credits: amount, allowDebt, reason: "support", idempotencyKey: key };
  const adjusted = await pdf.adjust(acme, request);
  const known = model.corrections.get(key);
  if (known !== undefined) {
    const isSame = known.of === "adjust" && known.credits === amount;
    return isSame ? expect(adjusted).toEqual(ok(model.balance)) : expect(kindOf(adjusted)).toBe("key_reused");
  }
  if (amount < 0 && model.balance + amount < 0 && !allowDebt) {
    return expect(kindOf(adjusted)).toBe("insufficient_credits");
  }
  model.adjusted += amount;
  model.corrections.set(key, { of: "adjust", credits: amount });
  expect(adjusted).toEqual(ok(model.balance));
};

const found = async (pdf: Product, { handle }: ModelHold): Promise<TaskHold> =>
  (await pdf.find(acme, handle.taskId)) as TaskHold;

/** Credits that the entries of each task have taken from the balance. */
const creditsByTask = (entries: readonly MeterEntry[]): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>();
  for (const entry of entries) {
    if ("taskId" in entry) sums.set(entry.taskId, (sums.get(entry.taskId) ?? 0) - entry.credits);
  }
  return sums;
};

/** Throws with the refusal, if there is one. */
const heldOf = <Value>(result: Result<Value, { readonly kind: string }>): Value => {
  if (result.isErr()) throw new Error(`Expected a hold, but the meter has refused: ${result.error.kind}.`);
  return result.value;
};

type Refusal = { readonly kind: string };
const refusalOf = (result: Result<unknown, Refusal>): Refusal => (result.isErr() ? result.error : { kind: "none" });
const kindOf = (result: Result<unknown, Refusal>): string => refusalOf(result).kind;
