import { setTimeout } from "node:timers/promises";
import { aCreationRequest, noon, secondsAfter } from "../../adapters/contracts/support/builders.js";
import { image } from "../../adapters/memory/memory-imaging.js";
import type { Script } from "../../adapters/memory/scripted-provider.js";
import type { Readiness } from "../../application/ports/generation-provider.js";
import { credits } from "../../domain/credits/credits.js";
import type { IdempotencyKey } from "../../domain/credits/idempotency.js";
import { CREDIT_PACKS, type OrderId } from "../../domain/credits/order.js";
import type { PaymentReturn } from "../../domain/credits/payment-return.js";
import type { DistributiveOmit } from "./faults.js";
import type { Instance } from "./instance.js";
import type { Creation, Surroundings } from "./surroundings.js";

/** Something that a client, the schedule or another service does. May be repeated. */
export type Step = (instance: Instance, around: Surroundings) => Promise<unknown>;

/** A client creates a panorama; after an error it repeats this with the same key. */
export const create =
  (key: string, body: Readonly<Record<string, unknown>> = {}): Step =>
  async ({ useCases, ids }, around) => {
    const admitted = await useCases.admit(around.secretSha256, "write");
    const { key: apiKey } = admitted._unsafeUnwrap();
    const request = aCreationRequest({ webhook_url: "https://receiver.example/one", ...body });
    const answered = useCases.createPanorama(around.owner, request, key as IdempotencyKey, { apiKey });
    if (ids.lastTaskId === undefined) throw new Error("a creation has made no id");
    const creation: Creation = { key, taskId: ids.lastTaskId };
    around.creations.push(creation);
    const answer = await answered;
    creation.answer = answer.match(
      ({ task }) => ({ id: task.id }),
      ({ kind }) => kind,
    );
  };

/** The task that a client knows by the answer to its creation with this key. */
const known = ({ creations }: Surroundings, key: string) =>
  creations
    .flatMap(({ key: other, answer }) => (other === key && typeof answer === "object" ? [answer.id] : []))
    .at(-1);

/** While it waits for whoever has the task, time passes: at most as long as it waits. */
export const cancel =
  (key: string): Step =>
  async (instance, around) => {
    const id = known(around, key);
    if (id === undefined) return;
    const canceling = instance.useCases.cancelTask(id, around.owner).then((result) => {
      const task = result._unsafeUnwrap();
      if (task.state === "failed") around.toldFailed.add(id);
      return "answered" as const;
    });
    for (let looks = 0; looks < 12 && !instance.isDead; looks += 1) {
      if ((await Promise.race([canceling, setTimeout(20)])) === "answered") return;
      await around.clock.advance(500);
    }
    await canceling;
  };

export const remove =
  (key: string): Step =>
  async ({ useCases }, around) => {
    const id = known(around, key);
    if (id === undefined) return;
    const deleted = await useCases.deletePanorama(id, around.owner);
    if (deleted.isErr()) await useCases.deletePanorama(id, around.owner); // the storage was unavailable
  };

/** The image gets another name, which only the background work gives to the stored files. */
export const hide =
  (key: string): Step =>
  async ({ useCases }, around) => {
    const id = known(around, key);
    if (id !== undefined) await useCases.hide(id, { reason: "why", by: "an operator" });
  };

export const retryImage =
  (key: string): Step =>
  async ({ useCases }, around) => {
    const id = known(around, key);
    if (id !== undefined) await useCases.retryImage(id, around.owner);
  };

export const read =
  (key: string): Step =>
  async ({ useCases }, around) => {
    const id = known(around, key);
    if (id !== undefined) await useCases.readTask(id, around.owner);
  };

export const webhook =
  (key: string): Step =>
  async ({ useCases }, around) => {
    const body = Buffer.from(known(around, key) ?? "");
    await useCases.receiveWebhook("scripted", { body, headers: {}, query: new URLSearchParams() });
  };

const BYTES = image("a reference");

export const upload: Step = async ({ useCases }, around) => {
  const file = { declaredType: "image/jpeg", sizeBytes: BYTES.length, read: async () => BYTES };
  const uploaded = await useCases.upload(around.owner, [file]);
  if (uploaded.isOk()) around.uploaded.push(...uploaded.value.urls);
};

export const createFromUpload =
  (key: string): Step =>
  (instance, around) =>
    create(key, { image_urls: around.uploaded.slice(-1) })(instance, around);

export const buyCredits: Step = async ({ useCases }, around) => {
  const order = (await useCases.createOrder(around.owner, credits(25)))._unsafeUnwrap();
  around.orders.add(order.id);
};

export const payOrders: Step = async ({ useCases }, { orders }) => {
  for (const order of orders) await useCases.payOrder(order);
};

/** The customer pays for a pack at the payment service. */
export const buyPack: Step = async ({ useCases }, { stores, owner, packs }) => {
  const account = await stores.accounts.find(owner);
  if (account === undefined) throw new Error("the account is gone");
  packs.set((await useCases.buyPack(account, CREDIT_PACKS[0]))._unsafeUnwrap().order.id, new Set());
};

const paymentOf = (order: OrderId): string => `pi_${order}`;

/** The payment service reports the payment. */
export const packPaid: Step = async ({ useCases }, { packs, payments }) => {
  for (const [order, known] of packs) {
    const { body, signature } = payments.pay(order, { paymentId: paymentOf(order) });
    if ((await useCases.receivePayment(body, signature)).isOk()) known.add("paid");
  }
};

const packReturned =
  (what: "refunded" | "disputed" | "won", returned: DistributiveOmit<PaymentReturn, "id">): Step =>
  async ({ useCases }, { packs, payments }) => {
    for (const [order, known] of packs) {
      const report = { paymentId: paymentOf(order), returned: { ...returned, id: `${returned.kind}_${order}` } };
      const { body, signature } = payments.giveBack(report);
      if ((await useCases.receivePayment(body, signature)).isOk()) known.add(what);
    }
  };

const { priceCents } = CREDIT_PACKS[0];

/** The payment service reports that it has given half of the money back. */
export const packRefunded = packReturned("refunded", { kind: "refund", cents: priceCents / 2, at: noon });

/** The customer disputes the payment, and the payment service takes the whole price back until it is decided. */
export const packDisputed = packReturned("disputed", {
  kind: "dispute",
  state: "open",
  stateAt: noon,
  withdrawn: { cents: priceCents, at: noon, transfers: 1 },
});

/** The dispute is decided, and the price is given back to the operator. */
export const packDisputeWon = packReturned("won", {
  kind: "dispute",
  state: "won",
  stateAt: secondsAfter(noon, 1),
  withdrawn: { cents: 0, at: secondsAfter(noon, 1), transfers: 2 },
});

type Work = "start" | "recover" | "poll" | "check" | "store" | "erase" | "deleteExpired" | "deliver" | "forget";

export const work =
  (name: Work | "retryFailedImages"): Step =>
  ({ useCases }) =>
    useCases[name]();

/** All background work, in the order of the schedule. */
export const ALL_WORK: readonly Work[] = [
  "start",
  "poll",
  "check",
  "store",
  "recover",
  "erase",
  "deliver",
  "deleteExpired",
  "forget",
];

export const pass =
  (milliseconds: number): Step =>
  (_, { clock }) =>
    clock.advance(milliseconds);

export const play =
  (script: Partial<Script>, provider = 0): Step =>
  async (_, { providers }) =>
    providers[provider]?.play(script);

/** The provider has room for one generation at a time. */
export const oneSlot: Step = async (_, { providers: [provider] }) => {
  provider.concurrencyMax = 1;
};

export const readiness =
  (ready: Readiness): Step =>
  async (_, { providers: [provider] }) => {
    provider.ready = ready;
  };

export const storage =
  (available: boolean): Step =>
  async (_, around) => {
    around.storage.available = available;
  };

export const thumbnails =
  (possible: boolean): Step =>
  async (_, around) => {
    around.imaging.thumbnails = possible;
  };

export const receiver =
  (answers: boolean): Step =>
  async (_, { sender }) => {
    sender.answers = answers;
  };

/** Several at the same time; each one is repeated if it meets the fault. */
export const together =
  (...steps: readonly Step[]): Step =>
  (instance, around) =>
    Promise.all(steps.map((step) => step(instance, around)));

export const [start, poll, check, store] = [work("start"), work("poll"), work("check"), work("store")];
export const [recover, erase, deliver] = [work("recover"), work("erase"), work("deliver")];

/** The next poll is due after it. */
export const POLL = 5_000;
export const THUMBNAIL_RETRY = 10 * 60 * 1000;
export const DAY = 24 * 60 * 60 * 1000;
