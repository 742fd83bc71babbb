import {
  GENERATION_DEADLINE_MILLISECONDS,
  LEASE_MILLISECONDS,
  QUEUE_DEADLINE_MILLISECONDS,
} from "../support/application.js";
import {
  buyCredits,
  buyPack,
  cancel,
  check,
  create,
  createFromUpload,
  DAY,
  deliver,
  erase,
  hide,
  oneSlot,
  POLL,
  packDisputed,
  packDisputeWon,
  packPaid,
  packRefunded,
  pass,
  payOrders,
  play,
  poll,
  read,
  readiness,
  receiver,
  recover,
  remove,
  retryImage,
  type Step,
  start,
  storage,
  store,
  THUMBNAIL_RETRY,
  thumbnails,
  together,
  upload,
  webhook,
  work,
} from "./steps.js";

export type Scenario = {
  readonly name: string;
  readonly providers?: readonly [string, ...string[]];
  /** Creations are sent to the providers as to remote ones. */
  readonly isCalled?: boolean;
  readonly steps: readonly Step[];
  /** How the tasks end if there is no fault, in the order of their creation. */
  readonly ends: readonly string[];
  /** Other ends to which a fault without delay may lead, for example because a step came too early. */
  readonly orEnds?: readonly string[];
};

const SAVED = "succeeded saved";

/**
 * While the creation is halted, the scenario lets more time pass than a task may wait. Then no recovery is before the
 * pause ends, or the creation is refused when it goes on, because its time to wait counts from its beginning.
 */
const UNSENT_IN_TIME = ["failed never_submitted", "failed refused"];

/** The paths of a task's life. */
export const SCENARIOS: readonly Scenario[] = [
  { name: "saved", steps: [create("a"), pass(POLL), poll, check, deliver, read("a")], ends: [SAVED] },
  { name: "sent to a remote provider", isCalled: true, steps: [create("a"), pass(POLL), poll, check], ends: [SAVED] },
  {
    name: "created during a recovery",
    steps: [recover, pass(GENERATION_DEADLINE_MILLISECONDS), create("a")],
    ends: [SAVED],
  },
  {
    name: "saved later",
    steps: [create("a"), storage(false), pass(POLL), poll, check, storage(true), pass(2_000), store, deliver],
    ends: [SAVED],
  },
  {
    name: "thumbnail later",
    steps: [create("a"), thumbnails(false), pass(POLL), poll, check, thumbnails(true), pass(THUMBNAIL_RETRY), store],
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
    ends: ["failed unusable_result"],
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
    steps: [play({ submit: "busy" }), create("a"), pass(QUEUE_DEADLINE_MILLISECONDS), recover, deliver],
    ends: ["failed never_started"],
    orEnds: UNSENT_IN_TIME,
  },
  {
    name: "submission resolved by the recovery",
    steps: [
      play({ submit: "unknown_but_started", search: "unavailable" }),
      create("a"),
      play({ search: "found_if_started" }),
      pass(LEASE_MILLISECONDS),
      recover,
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
    name: "more at once than the account may have",
    steps: [create("a"), create("b"), create("c"), create("d"), together(create("e"), create("f"))],
    ends: [SAVED, SAVED, SAVED, SAVED, SAVED],
  },
  {
    name: "refused while the provider is down",
    steps: [readiness("down"), create("a"), readiness("ready"), create("a"), pass(POLL), poll, check],
    ends: [SAVED],
  },
  {
    name: "content refused",
    steps: [play({ submit: "content_refused" }), create("a"), deliver],
    ends: ["failed content_refused"],
    orEnds: ["failed submission_unknown"],
  },
  {
    name: "reference image unusable",
    steps: [
      upload,
      createFromUpload("a"),
      play({ poll: "reference_unusable" }),
      pass(POLL),
      poll,
      deliver,
      pass(DAY + 1_000), // an upload that is answered with an error has stored its object all the same
      work("deleteExpired"),
    ],
    ends: ["failed reference_unusable"],
    orEnds: ["failed never_submitted", "failed refused"],
  },
  {
    name: "several workers at once",
    steps: [
      create("a"),
      create("b"),
      pass(POLL),
      together(poll, poll, read("a")),
      together(check, check, store, recover),
      deliver,
    ],
    ends: [SAVED, SAVED],
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
      store,
      remove("a"),
      erase,
    ],
    ends: ["succeeded saved hidden"],
    orEnds: [SAVED, "succeeded saved-no-thumb hidden", ...UNSENT_IN_TIME],
  },
  {
    name: "hidden by an operator while its thumbnail is made",
    steps: [
      create("a", { visibility: "public" }),
      thumbnails(false),
      pass(POLL),
      poll,
      check,
      thumbnails(true),
      pass(THUMBNAIL_RETRY),
      hide("a"),
      store,
    ],
    ends: [SAVED],
    orEnds: UNSENT_IN_TIME,
  },
  {
    name: "hidden by an operator, then deleted",
    steps: [create("a"), pass(POLL), poll, check, hide("a"), together(store, remove("a")), erase],
    ends: ["succeeded saved hidden"],
    orEnds: [SAVED],
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
      store,
    ],
    ends: ["succeeded expired"],
    orEnds: ["failed unusable_result", SAVED],
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
      store,
    ],
    ends: [SAVED],
    orEnds: ["succeeded failed"], // the retry of another instance came before the first attempt had failed
  },
  {
    name: "images failed, then all retried",
    steps: [
      create("a"),
      play({ download: "image_that_fails" }),
      pass(POLL),
      poll,
      check,
      play({ download: "image" }),
      work("retryFailedImages"),
      store,
    ],
    ends: [SAVED],
    orEnds: ["succeeded failed"], // as above
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
    orEnds: [SAVED, "failed never_submitted", "failed refused"],
  },
  {
    name: "uploaded again while it expires",
    steps: [
      upload,
      createFromUpload("a"),
      pass(POLL),
      poll,
      check,
      remove("a"),
      pass(DAY + 1_000),
      together(work("deleteExpired"), upload),
      createFromUpload("b"),
      work("deleteExpired"),
      upload,
      createFromUpload("c"),
      pass(POLL),
      poll,
      check,
    ],
    ends: ["succeeded saved hidden", SAVED, SAVED],
    orEnds: ["failed never_submitted", "failed refused"],
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
  {
    name: "pack paid, then refunded",
    steps: [buyPack, packPaid, create("a"), packRefunded, together(packRefunded, packPaid), pass(POLL), poll, check],
    ends: [SAVED],
  },
  {
    name: "pack refunded before its payment is reported",
    steps: [buyPack, packRefunded, together(packPaid, packRefunded), packPaid],
    ends: [],
  },
  {
    name: "pack refunded and disputed",
    steps: [buyPack, packPaid, create("a"), together(packRefunded, packDisputed), packRefunded],
    ends: [SAVED],
  },
  {
    name: "pack disputed before its payment is reported, and the dispute won",
    steps: [buyPack, packDisputed, together(packPaid, packRefunded), together(packDisputeWon, packDisputed)],
    ends: [],
  },
];
