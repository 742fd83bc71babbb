import { setTimeout } from "node:timers/promises";
import { aCreationRequest } from "../../adapters/contracts/builders.js";
import { image } from "../../adapters/memory/memory-imaging.js";
import type { Script } from "../../adapters/memory/scripted-provider.js";
import { credits } from "../../domain/credits.js";
import type { IdempotencyKey } from "../../domain/idempotency.js";
import {
  GENERATION_DEADLINE_MILLISECONDS,
  LEASE_MILLISECONDS,
  QUEUE_DEADLINE_MILLISECONDS,
} from "../support/application.js";
import type { Instance } from "./instance.js";
import type { Creation, Surroundings } from "./surroundings.js";

/** Something that a client, the schedule or another service does. May be repeated. */
export type Step = (instance: Instance, around: Surroundings) => Promise<unknown>;

export type Scenario = {
  readonly name: string;
  readonly providers?: readonly [string, ...string[]];
  readonly steps: readonly Step[];
  /** How the tasks end if there is no fault, in the order of their creation. */
  readonly ends: readonly string[];
  /** Other ends that a fault may lead to that takes no time, for example because a step came too early. */
  readonly orEnds?: readonly string[];
};

/** A client creates a panorama; after an error it repeats this with the same key. */
const create =
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
const cancel =
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

const remove =
  (key: string): Step =>
  async ({ useCases }, around) => {
    const id = known(around, key);
    if (id === undefined) return;
    const deleted = await useCases.deletePanorama(id, around.owner);
    if (deleted.isErr()) await useCases.deletePanorama(id, around.owner); // the storage was unavailable
  };

const retryImage =
  (key: string): Step =>
  async ({ useCases }, around) => {
    const id = known(around, key);
    if (id !== undefined) await useCases.retryImage(id, around.owner);
  };

const read =
  (key: string): Step =>
  async ({ useCases }, around) => {
    const id = known(around, key);
    if (id !== undefined) await useCases.readTask(id, around.owner);
  };

const webhook =
  (key: string): Step =>
  async ({ useCases }, around) => {
    const body = Buffer.from(known(around, key) ?? "");
    await useCases.receiveWebhook("scripted", { body, headers: {}, query: new URLSearchParams() });
  };

const BYTES = image("a reference");

const upload: Step = async ({ useCases }, around) => {
  const file = { declaredType: "image/jpeg", sizeBytes: BYTES.length, read: async () => BYTES };
  const uploaded = await useCases.upload(around.owner, [file]);
  if (uploaded.isOk()) around.uploaded.push(...uploaded.value);
};

const createFromUpload =
  (key: string): Step =>
  (instance, around) =>
    create(key, { image_urls: around.uploaded.slice(-1) })(instance, around);

const buyCredits: Step = async ({ useCases }, around) => {
  const order = (await useCases.createOrder(around.owner, credits(25)))._unsafeUnwrap();
  around.orders.add(order.id);
};

const payOrders: Step = async ({ useCases }, { orders }) => {
  for (const order of orders) await useCases.payOrder(order);
};

type Work = "start" | "sweep" | "poll" | "check" | "keep" | "erase" | "deleteExpired" | "deliver" | "forget";

const work =
  (name: Work): Step =>
  ({ useCases }) =>
    useCases[name]();

/** All background work, in the order of the schedule. */
export const ALL_WORK: readonly Work[] = [
  "start",
  "poll",
  "check",
  "keep",
  "sweep",
  "erase",
  "deliver",
  "deleteExpired",
  "forget",
];

const pass =
  (milliseconds: number): Step =>
  (_, { clock }) =>
    clock.advance(milliseconds);

const play =
  (script: Partial<Script>, provider = 0): Step =>
  async (_, { providers }) =>
    providers[provider]?.play(script);

/** The provider has room for one generation at a time. */
const oneSlot: Step = async (_, { providers: [provider] }) => {
  provider.concurrencyMax = 1;
};

const storage =
  (available: boolean): Step =>
  async (_, around) => {
    around.storage.available = available;
  };

const thumbnails =
  (possible: boolean): Step =>
  async (_, around) => {
    around.imaging.thumbnails = possible;
  };

const receiver =
  (answers: boolean): Step =>
  async (_, { sender }) => {
    sender.answers = answers;
  };

/** Several at the same time; each one is repeated if it meets the fault. */
const together =
  (...steps: readonly Step[]): Step =>
  (instance, around) =>
    Promise.all(steps.map((step) => step(instance, around)));

const [start, poll, check, keep] = [work("start"), work("poll"), work("check"), work("keep")];
const [sweep, erase, deliver] = [work("sweep"), work("erase"), work("deliver")];

/** The next poll is due after it. */
const POLL = 5_000;
const THUMBNAIL_RETRY = 10 * 60 * 1000;
const DAY = 24 * 60 * 60 * 1000;

const SAVED = "succeeded saved";

/**
 * While the creation is halted, the scenario lets more time pass than a task may wait. Then no sweep comes before the pause
 * ends, or the creation is refused when it goes on, because its time to wait counts from its beginning.
 */
const UNSENT_IN_TIME = ["failed never_submitted", "failed refused"];

/** The paths of a task's life. */
export const SCENARIOS: readonly Scenario[] = [
  { name: "saved", steps: [create("a"), pass(POLL), poll, check, deliver, read("a")], ends: [SAVED] },
  {
    name: "saved later",
    steps: [create("a"), storage(false), pass(POLL), poll, check, storage(true), pass(2_000), keep, deliver],
    ends: [SAVED],
  },
  {
    name: "thumbnail later",
    steps: [create("a"), thumbnails(false), pass(POLL), poll, check, thumbnails(true), pass(THUMBNAIL_RETRY), keep],
    ends: [SAVED],
    orEnds: UNSENT_IN_TIME,
  },
  {
    name: "refused, then repeated",
    steps: [play({ submit: "refuse" }), create("a"), play({ submit: "accept" }), create("a"), pass(POLL), poll, check],
    ends: ["failed refused", SAVED],
  },
  {
    name: "answer lost, found again",
    steps: [play({ submit: "unknown_but_started" }), create("a"), pass(POLL), poll, check],
    ends: [SAVED],
    orEnds: ["failed submission_unknown"],
  },
  {
    name: "answer lost, not found",
    steps: [play({ submit: "unknown", search: "nothing" }), create("a"), deliver],
    ends: ["failed submission_unknown"],
  },
  {
    name: "generation failed",
    steps: [create("a"), play({ poll: "failed" }), pass(POLL), poll, deliver],
    ends: ["failed generation_failed"],
  },
  {
    name: "unusable picture",
    steps: [create("a"), play({ download: "black" }), pass(POLL), poll, check, deliver],
    ends: ["failed generation_failed"],
  },
  {
    name: "deadline passed",
    steps: [create("a"), play({ poll: "running" }), pass(POLL), poll, pass(GENERATION_DEADLINE_MILLISECONDS), poll],
    ends: ["failed deadline_passed"],
    // The process has died between the provider's stop and the refund: the next poll sees that it has ended, not why.
    orEnds: [...UNSENT_IN_TIME, "failed generation_failed"],
  },
  {
    name: "canceled at the provider",
    steps: [create("a"), play({ poll: "running" }), cancel("a"), deliver],
    ends: ["failed canceled"],
    orEnds: ["failed deadline_passed"],
  },
  {
    name: "canceled while it is polled",
    steps: [create("a"), play({ poll: "running" }), pass(POLL), together(poll, cancel("a"), webhook("a")), deliver],
    ends: ["failed canceled"],
    orEnds: ["failed deadline_passed", "failed generation_failed"],
  },
  {
    name: "canceled too late, again and again",
    steps: [
      create("a"),
      play({ poll: "running", cancel: "too_late" }),
      cancel("a"),
      together(cancel("a"), cancel("a"), poll),
      play({ poll: "succeeded" }),
      pass(POLL),
      together(cancel("a"), poll),
      check,
    ],
    ends: [SAVED],
    orEnds: ["failed canceled"], // before it was sent
  },
  {
    name: "queued, one canceled",
    steps: [oneSlot, create("a"), create("b"), create("c"), cancel("b"), pass(POLL), poll, start, check],
    ends: [SAVED, "failed canceled", SAVED],
    orEnds: ["failed never_started"], // the first task is swept, and leaves its slot, a lease later
  },
  {
    name: "busy, then started",
    steps: [
      play({ submit: "busy" }),
      create("a"),
      start,
      create("b"),
      play({ submit: "accept" }),
      start,
      pass(POLL),
      poll,
      check,
    ],
    ends: [SAVED, SAVED],
  },
  {
    name: "never started",
    steps: [play({ submit: "busy" }), create("a"), pass(QUEUE_DEADLINE_MILLISECONDS), sweep, deliver],
    ends: ["failed never_started"],
    orEnds: UNSENT_IN_TIME,
  },
  {
    name: "submission resolved by the sweep",
    steps: [
      play({ submit: "unknown_but_started", search: "unavailable" }),
      create("a"),
      play({ search: "found_if_started" }),
      pass(LEASE_MILLISECONDS),
      sweep,
    ],
    ends: ["failed submission_unknown"],
    orEnds: [SAVED],
  },
  {
    name: "fallback",
    providers: ["first", "second"],
    steps: [play({ submit: "busy" }), create("a"), pass(POLL), poll, check],
    ends: [SAVED],
  },
  {
    name: "fallback without a free slot",
    providers: ["first", "second"],
    steps: [
      async (_, { providers }) => {
        for (const provider of providers) provider.concurrencyMax = 1;
      },
      play({ submit: "busy" }),
      create("a"),
      create("b"),
      pass(POLL),
      poll,
      check,
      start,
      pass(POLL),
      poll,
      check,
    ],
    ends: [SAVED, SAVED],
    orEnds: ["failed never_started"], // as above: the second one waits for the slot for too long
  },
  {
    name: "idempotent replay",
    steps: [create("a"), create("a"), create("a", { prompt: "another picture" }), pass(POLL), poll, check, create("a")],
    ends: [SAVED],
  },
  {
    name: "created twice at once",
    steps: [together(create("a"), create("a"), create("b")), pass(POLL), poll, check],
    ends: [SAVED, SAVED],
  },
  {
    name: "more than the account may have",
    steps: [
      create("a", { resolution: "4k" }),
      create("b", { resolution: "4k" }),
      create("c", { resolution: "4k" }),
      create("d", { resolution: "4k" }),
      create("e"),
      pass(POLL),
      poll,
      check,
    ],
    ends: [SAVED, SAVED, SAVED, SAVED],
  },
  {
    name: "deleted",
    steps: [create("a"), pass(POLL), poll, check, remove("a"), erase, deliver],
    ends: ["succeeded saved hidden"],
    orEnds: [SAVED],
  },
  {
    name: "deleted while its thumbnail is made",
    steps: [
      create("a"),
      thumbnails(false),
      pass(POLL),
      poll,
      check,
      thumbnails(true),
      pass(THUMBNAIL_RETRY),
      keep,
      remove("a"),
      erase,
    ],
    ends: ["succeeded saved hidden"],
    orEnds: [SAVED, "succeeded saved-no-thumb hidden", ...UNSENT_IN_TIME],
  },
  {
    name: "failed and deleted",
    steps: [create("a"), play({ poll: "failed" }), pass(POLL), poll, remove("a"), deliver],
    ends: ["failed generation_failed hidden"],
    orEnds: ["failed generation_failed"],
  },
  {
    name: "image expired",
    steps: [
      create("a"),
      storage(false),
      pass(POLL),
      poll,
      check,
      play({ download: "gone" }),
      storage(true),
      pass(2_000),
      keep,
    ],
    ends: ["succeeded expired"],
    orEnds: ["failed generation_failed", SAVED],
  },
  {
    name: "image failed, then retried",
    steps: [
      create("a"),
      play({ download: "image_that_fails" }),
      pass(POLL),
      poll,
      check,
      play({ download: "image" }),
      retryImage("a"),
      keep,
    ],
    ends: [SAVED],
    orEnds: ["succeeded failed"], // the retry of another instance came before the first attempt had failed
  },
  {
    name: "reference image",
    steps: [
      upload,
      createFromUpload("a"),
      pass(POLL),
      poll,
      check,
      remove("a"),
      erase,
      pass(DAY + 1_000),
      work("deleteExpired"),
    ],
    ends: ["succeeded saved hidden"],
    orEnds: [SAVED, "failed never_submitted"],
  },
  {
    name: "webhook of the provider",
    steps: [create("a"), webhook("a"), poll, check, webhook("a"), deliver],
    ends: [SAVED],
  },
  {
    name: "receiver unavailable",
    steps: [create("a"), pass(POLL), poll, receiver(false), check, deliver, receiver(true), pass(POLL), deliver],
    ends: [SAVED],
  },
  {
    name: "credits bought",
    steps: [buyCredits, payOrders, create("a", { resolution: "4k" }), payOrders, pass(POLL), poll, check],
    ends: [SAVED],
  },
];
