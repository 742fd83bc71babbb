// `creations` with a store and a provider of one's own, without the rest of the application (EMBEDDING.md).
import {
  accountId,
  admitRequest,
  creations,
  credits,
  err,
  ok,
  PANORAMA_POLICY,
  parseCreationRequest,
  type Standing,
  type SubmissionPlaces,
  slugFrom,
  type Task,
  type TaskAccess,
  type TaskId,
  type TaskTransitions,
  taskId,
} from "panorama-core";
import { MemoryObjectStorage } from "panorama-core/memory";

// Your store. `decide` is the domain's decision: store what it returns, in one transaction.
let standing: Standing = { accountId: accountId("customer"), credits: credits(30), activeTasks: 0 };
const stored = new Map<TaskId, Task>();
const tasks: TaskTransitions & SubmissionPlaces & Pick<TaskAccess, "findByImage"> = {
  open: async ({ decide }) =>
    decide(standing).map((opened) => {
      standing = opened.standing;
      stored.set(opened.task.id, opened.task);
      return { task: opened.task, replayed: false };
    }),
  find: async (id) => stored.get(id),
  findByImage: async () => undefined, // no panorama is a reference for another one here
  requeue: () => Promise.reject(new Error("This provider is never busy.")),
  changePlace: async () => true, // there is one place only
  move: async (_current, next) => {
    stored.set(next.id, next);
    const refunded = next.state === "failed" ? next.reservation.credits : 0;
    const activeTasks = standing.activeTasks - (next.state === "failed" ? 1 : 0);
    standing = { ...standing, credits: credits(standing.credits + refunded), activeTasks };
    return ok(undefined);
  },
};

const { create } = creations(
  {
    tasks,
    provider: {
      callsPerSecond: undefined,
      places: () => [{ name: "own", concurrencyMax: undefined, readiness: "ready", canMake: () => true }],
      checkRequest: () => ok(undefined),
      submit: async ({ taskId }) => ok(`upstream-${taskId}`), // start your model here
      // "There is none" would send the order again, and pay for it twice.
      search: async () => err({ kind: "provider_unavailable", reason: "this model cannot be searched" }),
      nextPollMilliseconds: () => 2_000,
    },
    ids: {
      taskId: () => taskId(`task-${stored.size + 1}`),
      slug: () => slugFrom(crypto.getRandomValues(new Uint8Array(16))),
    },
    clock: { now: () => new Date(), sleep: (milliseconds) => new Promise((end) => setTimeout(end, milliseconds)) },
    secrets: { sha256: String }, // used only with idempotency keys
    signals: { announce: () => {} },
    storage: new MemoryObjectStorage(), // hosts no reference images
    reporter: { report: console.error },
    generationTime: { lately: () => undefined },
  },
  {
    policy: PANORAMA_POLICY,
    submissionDeadlineMilliseconds: 35_000,
    queueDeadlineMilliseconds: 600_000,
    queueMax: 10_000,
  },
);

const request = parseCreationRequest({ prompt: "a quiet lake at sunset", resolution: "1k" });
if (request.isErr()) throw new Error(JSON.stringify(request.error));
const outcomes: string[] = [];
for (let n = 1; n <= 6; n += 1) {
  const created = await create(standing.accountId, request.value);
  outcomes.push(
    created.match(
      ({ task }) => task.state,
      (refusal) => refusal.kind,
    ),
  );
}

let log: readonly number[] = []; // the times of the admitted requests of one key
for (let n = 1; n <= 12; n += 1)
  log = admitRequest(log, { limit: 10, windowSeconds: 60 }, Date.now()).match(
    (admission) => admission.log,
    () => log,
  );
const { credits: remaining, activeTasks } = standing;
console.log(JSON.stringify({ outcomes, credits: remaining, active: activeTasks, admitted: log.length }));
