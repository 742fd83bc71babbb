import type { Result } from "neverthrow";
import type { Stores } from "../../../application/ports/stores/stores.js";
import type { QueueLimits } from "../../../application/ports/stores/tasks/task-store.js";
import { credits } from "../../../domain/credits/credits.js";
import type { IdempotencyKey, IdempotentRequest } from "../../../domain/credits/idempotency.js";
import { audit } from "../../../domain/credits/ledger-audit.js";
import type { Standing } from "../../../domain/credits/standing.js";
import type { AccountId } from "../../../domain/ids.js";
import { keep, type UploadingImage } from "../../../domain/images/storage-status.js";
import {
  type ActiveTask,
  type FailureReason,
  fail,
  finish,
  type GeneratedTask,
  type SubmittedTask,
  type SubmittingTask,
  type SucceededTask,
  submit,
  succeed,
  type Task,
  withImage,
} from "../../../domain/tasks/task.js";
import {
  aCreationRequest,
  accountId,
  aNativeSize,
  anAccount,
  anImageName,
  aPaidOrder,
  aSubmittingTask,
  limitedTo,
  noon,
  openATask,
  orderId,
  secondsAfter,
  taskId,
} from "../support/builders.js";
import { expect } from "../support/expect.js";
import { inChangingZones } from "../support/in-changing-zones.js";
import type { TestFunctions } from "../support/test-functions.js";

/**
 * Common set-up of the task suites: an account with 100 credits on new stores before each test, a check of the ledger
 * after it, and functions that bring tasks into their states.
 */
export const setUpTasks = (
  { beforeEach, afterEach }: Pick<TestFunctions, "beforeEach" | "afterEach">,
  makeStores: () => Promise<TaskStores>,
) => {
  const owner = accountId(1);
  const stranger = accountId(2);
  let stores: TaskStores;

  beforeEach(async () => {
    stores = inChangingZones(await makeStores());
    await openAccount(1);
  });
  afterEach(async () => {
    // After every test the ledger of every account must be correct.
    for await (const { standing, entries, tasks } of stores.ledger.all()) {
      expect(audit(standing, entries, tasks)).toEqual([]);
    }
    await stores.close();
  });

  /** Opens the n-th account with a paid order. */
  const openAccount = async (n: number, amount = 100): Promise<AccountId> => {
    const id = accountId(n);
    const order = aPaidOrder({ id: orderId(n), accountId: id, credits: credits(amount) });
    await stores.accounts.open(anAccount({ id }), { order });
    return id;
  };

  /** Opens the task as a creation does; `dueAt` is noon by default. */
  const open = (
    task: SubmittingTask,
    { dueAt = noon, idempotent }: { dueAt?: Date; idempotent?: IdempotentRequest } = {},
  ) =>
    stores.tasks.open({
      account: task.accountId,
      dueAt,
      idempotent,
      decide: (standing) => openATask(standing, task, task.reservedAt),
    });

  /** The deadline of what `openAt` puts into the queue, and one of what is started from it. */
  const later = secondsAfter(noon, 300);
  const deadline = secondsAfter(noon, 35);
  type QueueOpening = {
    readonly account?: AccountId;
    readonly idempotent?: IdempotentRequest;
    readonly fields?: Readonly<Record<string, unknown>>;
  };
  /** Opens a task at the first of these places with a free slot, otherwise in the queue. */
  const openAt = async (
    n: number,
    places: QueueLimits["places"],
    { account = owner, idempotent, fields }: QueueOpening = {},
  ) => {
    const { id, slug } = aSubmittingTask({ id: taskId(n) });
    const draft = { id, slug, request: aCreationRequest(fields) };
    const opened = await stores.tasks.open({
      account,
      dueAt: noon,
      idempotent,
      decide: (standing, queued, _, place) => openATask(standing, draft, noon, { turn: queued?.turn, place }),
      queue: { places: places.filter((place) => place.canMake(draft.request)), dueAt: later },
    });
    return unwrap(opened).task;
  };
  /** The same at the only place, with this concurrency limit. */
  const openLimited = (n: number, concurrencyMax: number, opening?: QueueOpening) =>
    openAt(n, limitedTo(concurrencyMax), opening);

  const submitting = async (n = 1, dueAt = noon): Promise<SubmittingTask> => {
    const task = aSubmittingTask({ id: taskId(n), accountId: owner });
    unwrap(await open(task, { dueAt }));
    return task;
  };
  const submitted = async (n = 1, dueAt = noon): Promise<SubmittedTask> => {
    const task = await submitting(n, dueAt);
    const next = submit(task, `upstream-${n}`, secondsAfter(noon, 1));
    unwrap(await stores.tasks.move(task, next, dueAt));
    return next;
  };
  const generated = async (n = 1, dueAt = noon): Promise<GeneratedTask> => {
    const task = await submitted(n);
    const next = finish(task, `https://p.example/${n}`);
    unwrap(await stores.tasks.move(task, next, dueAt));
    return next;
  };
  const succeeded = async (n = 1): Promise<SucceededTask> => {
    const task = await generated(n);
    const next = succeed(task, anImageName(n), aNativeSize, secondsAfter(noon, 30));
    unwrap(await stores.tasks.move(task, next, noon));
    return next;
  };
  const kept = async (n: number): Promise<SucceededTask> => {
    const task = await succeeded(n);
    const next = withImage(task, keep(task.image as UploadingImage));
    unwrap(await stores.tasks.move(task, next, undefined));
    return next;
  };
  const failed = (task: Task, reason: FailureReason = "generation_failed") =>
    fail(task as ActiveTask, reason, secondsAfter(noon, 60));

  const standing = async (id: AccountId = owner): Promise<Standing | undefined> => {
    for await (const account of stores.ledger.all()) if (account.standing.accountId === id) return account.standing;
    return undefined;
  };
  const entries = async () => (await stores.ledger.entries(owner)).map(({ kind, credits }) => `${kind} ${credits}`);
  const keyed = (key: string, request = "a".repeat(64)): IdempotentRequest => ({
    key: key as IdempotencyKey,
    request,
  });

  return {
    get stores() {
      return stores;
    },
    owner,
    stranger,
    openAccount,
    open,
    later,
    deadline,
    openAt,
    openLimited,
    submitting,
    submitted,
    generated,
    succeeded,
    kept,
    failed,
    standing,
    entries,
    keyed,
  };
};

export type TaskSetup = ReturnType<typeof setUpTasks>;

export const unwrap = <T>(result: Result<T, unknown>): T => result._unsafeUnwrap();

/** The stores that the suites of tasks use, on one empty database, which `close` deletes. */
export type TaskStores = Pick<Stores, "accounts" | "keys" | "ledger" | "tasks"> & { close(): Promise<void> };
