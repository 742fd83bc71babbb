import { ok, type Result } from "neverthrow";
import { meter } from "../../../application/credits/meter.js";
import type { TaskHold } from "../../../application/credits/meter-types.js";
import type { MeterStore } from "../../../application/ports/stores/meter-store.js";
import { sumOf } from "../../../domain/credits/ledger.js";
import type { LedgerCursor } from "../../../domain/credits/ledger-page.js";
import type { MeterEntry } from "../../../domain/credits/meter-entry.js";
import type { HandClock } from "../../memory/hand-clock.js";
import { expect } from "../support/expect.js";
import { inChangingZones } from "../support/in-changing-zones.js";
import { AHEAD_MILLISECONDS, type MeterCommand } from "./meter-commands.js";
import { acme, amountOf, keptBy, MeterModel, type ModelHold, type Product, policy } from "./meter-model.js";
import type { MeterStoreUnderTest } from "./meter-store-contract.js";

/** A meter for each process. */
export const metersOf = ({ store, elsewhere }: MeterStoreUnderTest): readonly Product[] => {
  const others = elsewhere === undefined ? [] : AHEAD_MILLISECONDS.map((ahead) => inChangingZones(elsewhere(ahead)));
  return [store, ...others].map((store) => meter({ policy, store }));
};

/** All entries of the account, oldest first. */
export const allEntries = async (store: MeterStore): Promise<MeterEntry[]> => {
  const entries: MeterEntry[] = [];
  for (let before: LedgerCursor | undefined; ; ) {
    const lines = await store.entries(acme, 7, before);
    if (lines.length === 0) return entries.reverse();
    entries.push(...lines.map(({ entry }) => entry));
    before = lines.at(-1)?.cursor;
  }
};

/** Runs the commands with a meter for each process, and compares every answer and what is stored with the model. */
export const compareWithModel = async (
  commands: readonly MeterCommand[],
  clock: HandClock,
  tested: MeterStoreUnderTest,
): Promise<void> => {
  const processes = metersOf(tested);
  const model = new MeterModel();
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

type Do<Kind extends MeterCommand["do"]> = Extract<MeterCommand, { readonly do: Kind }>;

const holdAsModel = async (pdf: Product, model: MeterModel, next: Do<"hold">, now: number): Promise<void> => {
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

const refundAsModel = async (
  pdf: Product,
  model: MeterModel,
  hold: ModelHold,
  next: Do<"refundLater">,
): Promise<void> => {
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

const adjustAsModel = async (pdf: Product, model: MeterModel, next: Do<"adjust">): Promise<void> => {
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
export const heldOf = <Value>(result: Result<Value, { readonly kind: string }>): Value => {
  if (result.isErr()) throw new Error(`Expected a hold, but the meter has refused: ${result.error.kind}.`);
  return result.value;
};

type Refusal = { readonly kind: string };
const refusalOf = (result: Result<unknown, Refusal>): Refusal => (result.isErr() ? result.error : { kind: "none" });
const kindOf = (result: Result<unknown, Refusal>): string => refusalOf(result).kind;
