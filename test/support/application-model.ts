import fc from "fast-check";
import { ok } from "neverthrow";
import { expect } from "vitest";
import { aCreationRequest } from "../../adapters/contracts/support/builders.js";
import { InProcessTaskSignals } from "../../adapters/memory/in-process-task-signals.js";
import type { Script } from "../../adapters/memory/scripted-provider.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { newApiKey } from "../../application/accounts/api-keys.js";
import type { CreatedPanorama, CreatePanoramaError } from "../../application/panoramas/create-panorama.js";
import type { Readiness } from "../../application/ports/generation-provider.js";
import type { AdmittedKey } from "../../application/ports/stores/rate-limits.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import { credits } from "../../domain/credits/credits.js";
import type { IdempotencyKey } from "../../domain/credits/idempotency.js";
import { audit } from "../../domain/credits/ledger.js";
import type { OrderId } from "../../domain/credits/order.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { thumbnailNameOf } from "../../domain/images/object-name.js";
import { isPermanent, STORAGE_STATUSES, type StorageStatus } from "../../domain/images/storage-status.js";
import { IDEMPOTENCY_KEPT_MILLISECONDS, PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { canonicalText } from "../../domain/tasks/canonical-text.js";
import type { CreationRequest } from "../../domain/tasks/creation-request.js";
import { isActive, type SucceededTask, statusOf, type Task } from "../../domain/tasks/task.js";
import { type AnnouncedEnds, announcedEnds } from "./announced-ends.js";
import {
  GENERATION_DEADLINE_MILLISECONDS,
  LEASE_MILLISECONDS,
  type Stores,
  SUBMISSION_DEADLINE_MILLISECONDS,
  type UseCases,
  useCases,
} from "./application.js";
import { type CallOutcome, ConnectionLost, PortGates } from "./port-gates.js";
import { anOwner, aWorld, type World } from "./world.js";

/**
 * A property of the whole application: two instances share the stores, clients create on several accounts, the provider
 * and the storage behave in every allowed way, connections to the stores are lost, processes are killed and time
 * passes, in any order and any interleaving. After every step the ledger is correct, nothing was started twice and no
 * final state has changed. At the end, when all deadlines have passed, no task is unfinished.
 */
export const keepsItsInvariants = async (
  openStores: () => Promise<Stores & { close(): Promise<void> }>,
  { runs }: { readonly runs: number },
): Promise<ReadonlySet<string>> => {
  const seen = new Set<string>();
  const steps = fc.array(step, { minLength: 1, maxLength: 80, size: "max" });
  const concurrencyMax = fc.constantFrom(undefined, undefined, 1, 2);
  await fc.assert(
    fc.asyncProperty(concurrencyMax, steps, async (concurrencyMax, run) => {
      const stores = await openStores();
      try {
        const model = await Model.start(stores, concurrencyMax, seen);
        for (const step of run) {
          await model.take(step);
          await model.check();
        }
        await model.finishAllWork();
      } finally {
        await stores.close();
      }
    }),
    { numRuns: runs },
  );
  return seen;
};

type Work = "start" | "sweep" | "poll" | "check" | "keep" | "erase";

type Step =
  | {
      readonly kind: "create";
      readonly instance: number;
      readonly owner: number;
      readonly key: string | undefined;
      readonly request: CreationRequest;
      /** Number of concurrent calls. */
      readonly times: number;
    }
  | { readonly kind: "work"; readonly instance: number; readonly work: Work }
  /** A third instance does the work from begin to end, while the calls of the others stay halted. */
  | { readonly kind: "workWholly"; readonly work: Work }
  | { readonly kind: "cancel"; readonly instance: number; readonly task: number }
  | { readonly kind: "retryFailedImages"; readonly instance: number }
  | { readonly kind: "retryImage"; readonly instance: number; readonly task: number }
  | { readonly kind: "payOrder"; readonly instance: number; readonly order: number }
  /** One halted call continues. */
  | { readonly kind: "resume"; readonly instance: number; readonly call: number; readonly outcome: CallOutcome }
  /** All halted calls continue at the same time. */
  | { readonly kind: "race"; readonly instance: number }
  /** The instance runs until it has nothing to do. */
  | { readonly kind: "finish"; readonly instance: number }
  | { readonly kind: "kill"; readonly instance: number }
  | { readonly kind: "pass"; readonly milliseconds: number }
  | { readonly kind: "script"; readonly script: Partial<Script> }
  | { readonly kind: "readiness"; readonly readiness: Readiness }
  | { readonly kind: "storage"; readonly available: boolean; readonly thumbnails: boolean };

const INSTANCES = 2;
/** Credits of each owner: one reaches the limit of active tasks first, the other one runs out of credits. */
const INITIAL_CREDITS = [60, 12];
const ORDERED_CREDITS = [4, 20];
/** Of the first owner's key: more than five tasks in processing cost, so that their limit is met too. */
const BUDGET_PER_DAY = credits(26);

const instance = fc.nat({ max: INSTANCES - 1 });

const DAY_MILLISECONDS = IDEMPOTENCY_KEPT_MILLISECONDS;

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("create" as const),
      instance,
      owner: fc.nat({ max: INITIAL_CREDITS.length - 1 }),
      key: fc.constantFrom(undefined, "key-1", "key-2"),
      request: fc.constantFrom(
        aCreationRequest(),
        aCreationRequest(),
        aCreationRequest({ resolution: "4k", visibility: "public" }),
      ),
      times: fc.constantFrom(1, 1, 1, 1, 2, PANORAMA_POLICY.activeMax + 1),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("work" as const),
      instance,
      work: fc.constantFrom<Work[]>("start", "sweep", "poll", "poll", "check", "check", "keep", "erase"),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("workWholly" as const),
      work: fc.constantFrom<Work[]>("poll", "poll", "check", "check", "keep", "erase"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("retryImage" as const), instance, task: fc.nat() }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("cancel" as const), instance, task: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("retryFailedImages" as const), instance }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("payOrder" as const), instance, order: fc.nat() }) },
  {
    weight: 16,
    arbitrary: fc.record({
      kind: fc.constant("resume" as const),
      instance,
      call: fc.nat(),
      outcome: fc.oneof(
        { weight: 20, arbitrary: fc.constant("done" as const) },
        { weight: 1, arbitrary: fc.constantFrom("lost_before" as const, "lost_after" as const) },
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("race" as const), instance }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("finish" as const), instance }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("kill" as const), instance }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      milliseconds: fc.constantFrom(
        1_000,
        5_000,
        SUBMISSION_DEADLINE_MILLISECONDS,
        LEASE_MILLISECONDS,
        GENERATION_DEADLINE_MILLISECONDS,
        DAY_MILLISECONDS,
      ),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("script" as const),
      script: fc.record(
        {
          submit: fc.constantFrom<Script["submit"][]>(
            "accept",
            "accept",
            "busy",
            "refuse",
            "content_refused",
            "unknown",
            "unknown_but_started",
          ),
          poll: fc.constantFrom<Script["poll"][]>(
            "running",
            "succeeded",
            "succeeded",
            "succeeded",
            "succeeded",
            "failed",
            "reference_unusable",
            "unavailable",
          ),
          search: fc.constantFrom<Script["search"][]>("found_if_started", "nothing", "unavailable"),
          download: fc.constantFrom<Script["download"][]>(
            "image",
            "image",
            "image",
            "image",
            "image_without_thumbnail",
            "image_that_expires",
            "image_that_fails",
            "no_image",
            "black",
            "gone",
            "gone",
            "unusable",
            "unavailable",
          ),
          cancel: fc.constantFrom<Script["cancel"][]>("stops", "stops", "too_late", "unavailable"),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("readiness" as const),
      readiness: fc.constantFrom<Readiness[]>("ready", "ready", "busy", "probing", "down"),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("storage" as const),
      available: fc.constantFrom(true, false, false),
      thumbnails: fc.boolean(),
    }),
  },
);

/** One process: its use cases call all ports through gates. */
type Instance = { readonly gates: PortGates; readonly useCases: UseCases; readonly ends: AnnouncedEnds };

/** The task that one call of a client may have opened: the id is generated before the first halted call. */
type Creation = {
  readonly owner: AccountId;
  readonly key: string | undefined;
  readonly request: CreationRequest;
  readonly taskId: TaskId;
};

class RecordingIds extends RandomIds {
  lastTaskId: TaskId | undefined;

  override taskId(): TaskId {
    this.lastTaskId = super.taskId();
    return this.lastTaskId;
  }
}

class Model {
  private readonly world: World;
  private readonly ids = new RecordingIds();
  private readonly instances: readonly Instance[];
  private readonly owners: readonly AccountId[];
  /** The key of each owner, by the order of `owners`. */
  private readonly keys: readonly AdmittedKey[];
  private readonly orders: readonly OrderId[];
  private readonly creations: Creation[] = [];
  /** The answers to the clients, to be compared with the stores. */
  private readonly answers: (() => Promise<void>)[] = [];
  private readonly failures: unknown[] = [];
  private readonly lastSeen = new Map<TaskId, { readonly task: Task; readonly firstSeenAt: Date }>();
  /** The images that were in permanent storage at some time. */
  private readonly seen: Set<string>;
  /** Of the waiting tasks, at the last check. */
  private places: ReadonlyMap<TaskId, { readonly turn: number; readonly place: number }> = new Map();

  private constructor(
    world: World,
    owners: readonly AccountId[],
    keys: readonly AdmittedKey[],
    orders: readonly OrderId[],
    seen: Set<string>,
  ) {
    this.world = world;
    this.owners = owners;
    this.keys = keys;
    this.orders = orders;
    this.seen = seen;
    this.instances = Array.from({ length: INSTANCES }, () => {
      const gates = new PortGates(world.clock);
      const ends = announcedEnds(gates.guard(world.tasks, { losable: true }), new InProcessTaskSignals());
      const ports = {
        ...world,
        ids: this.ids,
        signals: ends.signals,
        tasks: ends.tasks,
        accounts: gates.guard(world.accounts, { losable: true }),
        orders: gates.guard(world.orders, { losable: true }),
        provider: gates.guard(world.provider, { losable: false }),
        storage: gates.guard(world.storage, { losable: false }),
      };
      return { gates, ends, useCases: useCases(ports) };
    });
  }

  static async start(stores: Stores, concurrencyMax: number | undefined, seen: Set<string>): Promise<Model> {
    const world = aWorld(stores);
    world.provider.concurrencyMax = concurrencyMax;
    const owners: AccountId[] = [];
    const keys: AdmittedKey[] = [];
    const orders: OrderId[] = [];
    for (const creditsAtFirst of INITIAL_CREDITS) {
      const owner = await anOwner(world, creditsAtFirst);
      owners.push(owner);
      const limits = owners.length === 1 ? { ...NO_LIMITS, creditsPerDay: BUDGET_PER_DAY } : NO_LIMITS;
      const { key } = newApiKey(world, owner, "model", limits);
      (await world.keys.insert(key, () => ok(undefined)))._unsafeUnwrap();
      keys.push({ id: key.id, budgets: owners.length === 1 ? limits : undefined });
      for (const amount of ORDERED_CREDITS) {
        orders.push((await world.createOrder(owner, credits(amount)))._unsafeUnwrap().id);
      }
    }
    return new Model(world, owners, keys, orders, seen);
  }

  async take(step: Step): Promise<void> {
    const { world } = this;
    switch (step.kind) {
      case "create":
        for (let n = 0; n < step.times; n += 1) this.create(step);
        return;
      case "work":
        return this.watch(this.instance(step.instance).useCases[step.work]());
      case "workWholly":
        return void (await this.world[step.work]());
      case "retryImage": {
        if (this.lastSeen.size === 0) return;
        const { task } = pick([...this.lastSeen.values()], step.task);
        return this.watch(this.instance(step.instance).useCases.retryImage(task.id, task.accountId));
      }
      case "cancel":
        return this.cancel(step);
      case "retryFailedImages":
        return this.watch(this.instance(step.instance).useCases.retryFailedImages());
      case "payOrder":
        return this.watch(this.instance(step.instance).useCases.payOrder(pick(this.orders, step.order)));
      case "resume":
        return this.instance(step.instance).gates.resume(step.call, step.outcome);
      case "race":
        return this.instance(step.instance).gates.resumeAll();
      case "finish":
        return this.finish(step.instance);
      case "kill":
        return this.instance(step.instance).gates.kill();
      case "pass":
        return world.clock.advance(step.milliseconds);
      case "script":
        return world.provider.play(step.script);
      case "readiness":
        world.provider.ready = step.readiness;
        return;
      case "storage":
        world.storage.available = step.available;
        world.imaging.thumbnails = step.thumbnails;
    }
  }

  /** Invariants that hold after every step. Few calls of `expect`: each takes as long as many of these comparisons. */
  async check(): Promise<void> {
    const { world } = this;
    const unannounced = this.instances.flatMap(({ ends }) => [...ends.unannounced]);
    expect([this.failures, unannounced], "failures, and ends that no client is told of").toEqual([[], []]);
    for (const { error } of world.reporter.of("work_failed")) expect(error).toBeInstanceOf(ConnectionLost);

    const tasks: Task[] = [];
    const findings: unknown[] = [];
    const active: number[] = [];
    for await (const ledger of world.ledger.all()) {
      findings.push(...audit(ledger.standing, ledger.entries, ledger.tasks));
      active.push(ledger.standing.activeTasks);
      tasks.push(...ledger.tasks);
    }
    expect(findings).toEqual([]);
    expect(Math.max(...active)).toBeLessThanOrEqual(PANORAMA_POLICY.activeMax);
    await this.checkSpending(tasks);
    const running = tasks.filter(({ state }) => state === "submitting" || state === "submitted");
    expect(running.length).toBeLessThanOrEqual(world.provider.concurrencyMax ?? tasks.length);
    const turns = tasks.flatMap((task) => (task.state === "queued" ? [`${task.accountId} ${task.turn}`] : []));
    expect(new Set(turns).size, "turns of waiting tasks, each once per account").toBe(turns.length);
    await this.checkPlaces(tasks);
    for (const task of tasks) this.checkTask(task);
    this.checkProvider(new Map(tasks.map((task) => [task.id, task])));
    this.checkIdempotencyKeys();
    for (const checkAnswer of this.answers.splice(0)) await checkAnswer();
  }

  /**
   * Each waiting task has a place of its own in the queue: by turn, and within a turn by age. The place rises only by
   * tasks that have come since, unless an older task of the account has come back to the queue: that takes its turn.
   * Concurrent creations may get turns against the order of their age. When the one with the earlier turn ends, the
   * older one gets that turn, and passes what is younger in it.
   */
  private async checkPlaces(tasks: readonly Task[]): Promise<void> {
    const waiting = tasks.filter((task) => task.state === "queued");
    waiting.sort((a, b) => a.turn - b.turn || (a.id < b.id ? -1 : 1));
    const before = this.places;
    this.places = new Map(waiting.map(({ id, turn }, place) => [id, { turn, place }]));
    const come = waiting.filter(({ id }) => !before.has(id)).length;
    for (const [place, task] of waiting.entries()) {
      expect(await this.world.tasks.countAhead(task, waiting.length), "tasks before a waiting one").toBe(place);
      const last = before.get(task.id);
      if (last === undefined) continue;
      const isOlder = (other: Task) => other.accountId === task.accountId && other.id < task.id;
      const hasGivenItsTurn = task.turn > last.turn;
      if (hasGivenItsTurn) expect(tasks.some((other) => isOlder(other) && !before.has(other.id))).toBe(true);
      else {
        const passing = waiting
          .slice(0, place)
          .filter(({ id, turn }) => turn === task.turn && turn < (before.get(id)?.turn ?? turn));
        expect(place, "the place of a waiting task").toBeLessThanOrEqual(last.place + come + passing.length);
      }
      if (place > last.place) this.seen.add(hasGivenItsTurn ? "gave its turn" : "place rose");
      if (place < last.place) this.seen.add("place fell");
    }
  }

  /** Checks that no work is left after all deadlines, when the storage is available again. */
  async finishAllWork(): Promise<void> {
    const { world } = this;
    world.storage.available = true;
    for (let index = 0; index < INSTANCES; index += 1) await this.finish(index);
    await this.check();
    for (let round = 0; round < 12 && this.unfinished().length > 0; round += 1) {
      await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS);
      await world.sweep();
      await world.start();
      await world.settle();
      await world.keep();
      await this.check();
    }
    expect(this.unfinished()).toEqual([]);
    for (const { task } of this.lastSeen.values()) this.checkObjects(task);
    for await (const { standing } of world.ledger.all()) expect(standing.activeTasks).toBe(0);
  }

  /** What the keys have spent is the sum of their tasks of the day and the month that are not refunded. */
  private async checkSpending(tasks: readonly Task[]): Promise<void> {
    const now = this.world.clock.now();
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
    const [today, thisMonth] = [Date.UTC(year, month, now.getUTCDate()), Date.UTC(year, month)];
    for (const [index, owner] of this.owners.entries()) {
      const { id } = pick(this.keys, index);
      const expected = { today: 0, thisMonth: 0 };
      for (const { apiKeyId, state, reservedAt, reservation } of tasks) {
        if (apiKeyId !== id || state === "failed") continue;
        if (reservedAt.getTime() >= today) expected.today += reservation.credits;
        if (reservedAt.getTime() >= thisMonth) expected.thisMonth += reservation.credits;
      }
      const spending = await this.world.keys.spending(owner, now);
      expect(spending.get(id) ?? { today: 0, thisMonth: 0 }).toEqual(expected);
      if (index === 0) expect(expected.today).toBeLessThanOrEqual(BUDGET_PER_DAY);
    }
  }

  private unfinished(): Task[] {
    return [...this.lastSeen.values()]
      .map(({ task }) => task)
      .filter((task) => isActive(task) || (task.state === "succeeded" && task.image.status === "uploading"));
  }

  private async finish(index: number): Promise<void> {
    const { gates } = this.instance(index);
    while (gates.halted > 0) await gates.resumeAll();
  }

  private create({ instance, owner: index, request, key }: Extract<Step, { kind: "create" }>): void {
    const owner = pick(this.owners, index);
    const { createPanorama } = this.instance(instance).useCases;
    const apiKey = pick(this.keys, index);
    const answer = createPanorama(owner, request, key as IdempotencyKey | undefined, { apiKey });
    const creation = { owner, key, request, taskId: this.ids.lastTaskId as TaskId };
    this.creations.push(creation);
    this.watch(
      answer.then((result) => {
        this.answers.push(() =>
          result.match(
            (created) => this.checkAccepted(creation, created),
            (refusal) => this.checkRefused(creation, refusal),
          ),
        );
      }),
    );
  }

  private cancel({ instance, task: index }: Extract<Step, { kind: "cancel" }>): void {
    if (this.lastSeen.size === 0) return;
    const { id, accountId } = pick([...this.lastSeen.values()], index).task;
    const answer = this.instance(instance).useCases.cancelTask(id, accountId);
    this.watch(answer.then((result) => void this.answers.push(() => this.checkCanceled(result._unsafeUnwrap()))));
  }

  /** What the client was told still holds: an end is final. */
  private async checkCanceled(told: Task): Promise<void> {
    this.seen.add(`told ${statusOf(told)} after a cancellation`);
    const task = await this.world.tasks.find(told.id, told.accountId);
    if (!isActive(told)) expect(task?.state).toBe(told.state);
    if (told.state === "failed") expect(task).toEqual(told);
  }

  /** A refund of a generation that goes on, or has a result, would be paid for by the service. */
  private checkCanceledUpstream(id: TaskId): void {
    const { provider } = this.world;
    const wasSent = provider.startedFor(id) > 0;
    if (wasSent) expect(provider.hasFailed(id)).toBe(true);
    this.seen.add(wasSent ? "canceled at the provider" : "canceled in the queue");
  }

  private async checkAccepted({ owner, key, request, taskId }: Creation, created: CreatedPanorama): Promise<void> {
    const { task, replayed } = created;
    if (!replayed) {
      expect(task.id).toBe(taskId);
      expect(statusOf(task)).not.toBe("failed");
      return;
    }
    this.seen.add("replayed");
    expect(task.accountId).toBe(owner);
    expect(canonicalText(task.request)).toBe(canonicalText(request));
    const named = this.creations.filter((other) => other.owner === owner && other.key === key);
    expect(named.map((other) => other.taskId)).toContain(task.id);
  }

  /** A client that got an error for its creation is not charged for it. */
  private async checkRefused({ owner, taskId }: Creation, { kind }: CreatePanoramaError): Promise<void> {
    this.seen.add(kind);
    const task = await this.world.tasks.find(taskId, owner);
    if (kind === "upstream_error" && task === undefined) this.seen.add("refused while the provider is down");
    else expect(task?.state).toBe(kind === "upstream_error" ? "failed" : undefined);
  }

  private checkTask(task: Task): void {
    const last = this.lastSeen.get(task.id);
    if (last?.task === task) return;
    if (last !== undefined) expect(nextStates[last.task.state]).toContain(task.state);
    if (last?.task.state === "failed") expect(task).toEqual(last.task);
    if (last?.task.state === "succeeded") {
      const { image } = task as SucceededTask;
      expect({ ...task, image: undefined }).toEqual({ ...last.task, image: undefined });
      expect(image).toMatchObject({ temporaryUrl: last.task.image.temporaryUrl, imageName: last.task.image.imageName });
      expect(nextStatuses[last.task.image.status]).toContain(image.status);
    }
    if (task.state === "succeeded") {
      const { status } = task.image;
      this.seen.add(`image ${status}`);
      if (status === "uploading" && !this.world.storage.available) this.seen.add("storage unavailable");
    }
    this.checkObjects(task);
    if (task.state === "failed") this.seen.add(task.reason);
    if (task.state === "queued" || task.state === "generated") this.seen.add(task.state);
    if (task.state === "failed" && task.reason === "canceled") this.checkCanceledUpstream(task.id);
    this.lastSeen.set(task.id, { task, firstSeenAt: last?.firstSeenAt ?? this.world.clock.now() });
  }

  /** An image that was stored is there, and stays there. */
  private checkObjects(task: Task): void {
    if (task.state !== "succeeded" || !isPermanent(task.image)) return;
    const { status, imageName } = task.image;
    const { objects } = this.world.storage;
    expect(objects.has(imageName)).toBe(true);
    if (status === "saved") expect(objects.has(thumbnailNameOf(imageName))).toBe(true);
  }

  /** A reservation has at most one upstream task, and nothing is started without a reservation. */
  private checkProvider(tasks: ReadonlyMap<TaskId, Task>): void {
    for (const { taskId } of this.creations) {
      const task = tasks.get(taskId);
      const started = this.world.provider.startedFor(taskId);
      const wanted = task === undefined ? [0] : isStarted(task) ? [1] : [0, 1];
      if (!wanted.includes(started)) expect(started, `upstream tasks of a task that is ${task?.state}`).toBe(wanted[0]);
    }
    for (const { kind } of this.world.reporter.of("submission_recovered")) this.seen.add(kind);
    for (const { kind } of this.world.reporter.of("task_requeued")) this.seen.add(kind);
  }

  /** An idempotency key names only one task within the time for which it is stored. */
  private checkIdempotencyKeys(): void {
    const named = this.creations.filter(({ key, taskId }) => key !== undefined && this.lastSeen.has(taskId));
    for (const [index, one] of named.entries()) {
      for (const other of named.slice(index + 1)) {
        if (one.owner !== other.owner || one.key !== other.key) continue;
        const [first, second] = [this.lastSeen.get(one.taskId), this.lastSeen.get(other.taskId)];
        if (first === undefined || second === undefined || leavesItsKeyFree(first.task)) continue;
        if (leavesItsKeyFree(second.task)) continue;
        const [older, newer] = first.firstSeenAt <= second.firstSeenAt ? [first, second] : [second, first];
        const apart = newer.firstSeenAt.getTime() - older.task.reservedAt.getTime();
        expect(apart).toBeGreaterThanOrEqual(IDEMPOTENCY_KEPT_MILLISECONDS);
      }
    }
  }

  private instance(index: number): Instance {
    return pick(this.instances, index);
  }

  /** A use case may throw only because of a lost connection. */
  private watch(flight: Promise<unknown>): void {
    flight.catch((error: unknown) => {
      if (!(error instanceof ConnectionLost)) this.failures.push(error);
    });
  }
}

/** The script refuses content only when a task is submitted. */
const leavesItsKeyFree = (task: Task): boolean =>
  task.state === "failed" &&
  ["refused", "content_refused", "submission_unknown", "never_submitted"].includes(task.reason);

const isStarted = ({ state }: Task): boolean => state === "submitted" || state === "generated" || state === "succeeded";

/** The states that a task may have at a later step, by its state now. */
const nextStates: Record<Task["state"], readonly Task["state"][]> = {
  queued: ["queued", "submitting", "submitted", "generated", "succeeded", "failed"],
  submitting: ["queued", "submitting", "submitted", "generated", "succeeded", "failed"],
  submitted: ["submitted", "generated", "succeeded", "failed"],
  generated: ["generated", "succeeded", "failed"],
  succeeded: ["succeeded"],
  failed: ["failed"],
};

const nextStatuses: Record<StorageStatus, readonly StorageStatus[]> = {
  uploading: STORAGE_STATUSES,
  failed: STORAGE_STATUSES,
  "saved-no-thumb": ["saved-no-thumb", "saved"],
  saved: ["saved"],
  expired: ["expired"],
};

const pick = <T>(items: readonly T[], index: number): T => {
  const item = items[index % items.length];
  if (item === undefined) throw new RangeError("nothing to pick from");
  return item;
};
