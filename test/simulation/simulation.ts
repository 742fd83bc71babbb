import { ok } from "neverthrow";
import { MemoryImaging } from "../../adapters/memory/memory-imaging.js";
import { MemoryObjectStorage } from "../../adapters/memory/memory-object-storage.js";
import { MemoryApiRequests } from "../../adapters/memory/stores/memory-api-requests.js";
import { MemoryDatabase } from "../../adapters/memory/stores/memory-database.js";
import { MemoryRateLimits } from "../../adapters/memory/stores/memory-rate-limits.js";
import { memoryStores } from "../../adapters/memory/stores/memory-stores.js";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { newApiKey } from "../../application/accounts/api-keys.js";
import type { CreatedPanorama, CreatePanoramaError } from "../../application/panoramas/create-panorama.js";
import type { OperationalEvent } from "../../application/ports/reporter.js";
import type { ApiRequests } from "../../application/ports/stores/rate-limits.js";
import type { OutgoingWebhook } from "../../application/ports/webhook-sender.js";
import { newEndpoint } from "../../application/webhooks/endpoints.js";
import type { Email } from "../../domain/accounts/account.js";
import type { ApiKey, ApiKeySecret } from "../../domain/accounts/api-key.js";
import { type KeyLimits, NO_LIMITS } from "../../domain/accounts/key-limits.js";
import { credits } from "../../domain/credits/credits.js";
import type { IdempotencyKey } from "../../domain/credits/idempotency.js";
import { openOrder } from "../../domain/credits/order.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { RATE_LIMITS } from "../../domain/panorama-policy.js";
import { eventIdOf } from "../../domain/tasks/account-event.js";
import { canonicalText } from "../../domain/tasks/canonical-text.js";
import { type CreationRequest, parseCreationRequest } from "../../domain/tasks/creation-request.js";
import { isActive, isInProgress, statusOf, type Task } from "../../domain/tasks/task.js";
import type { AttemptResult } from "../../domain/webhooks/webhook-delivery.js";
import type { EndpointId } from "../../domain/webhooks/webhook-endpoint.js";
import { ConnectionLost } from "../support/port-gates.js";
import { replaceGlobals } from "./light-abort.js";
import { RuleBroken, Rules } from "./rules.js";
import { Scheduler, SeededRandom } from "./scheduler.js";
import { type IdCounter, SimulatedIds } from "./simulated-ids.js";
import { SimulatedProcess, type Surroundings, WORKS, type WorkName } from "./simulated-process.js";
import { GOOD_MOOD, MOODS, type Mood, SimulatedUpstream } from "./simulated-upstream.js";

const START = Date.parse("2026-01-01T12:00:00.000Z");

export type RunResult = {
  readonly seed: number;
  /** The rule that was broken and how; `undefined` if every rule held. */
  readonly broken: string | undefined;
  /** Number of events that were put into an order. */
  readonly events: number;
};

/**
 * One run of the whole application in memory, which the seed decides alone: what clients, providers, clocks and
 * processes do, and the order of everything that is awaited. At the end the processes recover, and all rules are
 * checked. `seen` collects what has happened, `trace` tells it step by step.
 */
export const simulate = async (seed: number, seen?: Set<string>, trace?: string[]): Promise<RunResult> => {
  const random = new SeededRandom(seed);
  const scheduler = new Scheduler(random, START, trace);
  const restoreGlobals = replaceGlobals(random.next, (milliseconds, end) => {
    scheduler.after(scheduler.running, milliseconds, "a timeout ends", end);
  });
  const run = new Run(random, scheduler, seen);
  try {
    await run.play();
    return { seed, broken: undefined, events: scheduler.events };
  } catch (error) {
    const broken = error instanceof RuleBroken ? error.message : `nothing throws: ${(error as Error).stack}`;
    return { seed, broken, events: scheduler.events };
  } finally {
    restoreGlobals();
  }
};

const TASK_WEBHOOK_URL = "https://customer.example/task";

/** What clients ask for. Parsed once, because every run uses the same. */
const REQUESTS: readonly CreationRequest[] = [
  {},
  {},
  { visibility: "public", resolution: "4k" },
  { webhook_url: TASK_WEBHOOK_URL },
].map((body) => parseCreationRequest({ prompt: "a lake", resolution: "1k", ...body })._unsafeUnwrap());

const IDEMPOTENCY_KEYS = [undefined, undefined, "key-1", "key-2"] as const;

/** One account reaches the limit of active tasks first, the other one runs out of credits. */
const CREDITS_AT_FIRST = [60, 12];
const ORDERED_CREDITS = 20;
const BUDGET_PER_DAY = credits(26);
const KEY_EXPIRES_AFTER_MILLISECONDS = 120_000;

const KEYS: readonly { readonly owner: number; readonly limits: Partial<KeyLimits> }[] = [
  { owner: 0, limits: {} },
  { owner: 0, limits: { creditsPerDay: BUDGET_PER_DAY } },
  { owner: 0, limits: { scopes: ["read"] } },
  { owner: 1, limits: {} },
  { owner: 1, limits: { expiresAt: new Date(START + KEY_EXPIRES_AFTER_MILLISECONDS) } },
];

const STEPS = [
  ...["create", "create", "create", "create", "create", "poll", "cancel", "cancel", "delete", "delete", "wait", "pay"],
  ...["cancel every second", "webhook"],
  ...["work", "work", "work", "work", "work", "all work", "all work", "pass", "pass", "pass", "jump in time"],
  ...["mood", "mood", "mood", "storage", "receiver", "restart", "restart", "pause", "sleep", "sleep", "set a clock"],
] as const;

/** Short runs try more beginnings in the same time, long ones reach states that need many steps. */
const LENGTHS = [
  { min: 3, max: 10 },
  { min: 3, max: 10 },
  { min: 10, max: 40 },
];

/**
 * `one`: all processes decide by the same time, whatever the wall clocks of their machines show, which are set by up to
 * hours. `agree`: their times differ by seconds, and the clock of the database is set: each process notices it a little
 * later.
 * `disagree`: the processes of an embedder, each with a clock of its own that is set alone; then a submission may look
 * overdue that has just begun, so generations may start twice, or after their task was canceled in the queue.
 * Everything else still holds.
 */
type Clocks = "one" | "agree" | "disagree";
const CLOCKS: readonly Clocks[] = ["one", "one", "one", "agree", "agree", "disagree"];

const PASSES_MILLISECONDS = [1_000, 5_000, 5_000, 30_000, 60_000, 120_000, 300_000, 600_000];
/** How clocks are set: by a time service, and by a person. */
const CLOCK_CHANGES_MILLISECONDS = [-3_600_000, -300_000, -70_000, -2_000, 2_000, 70_000, 300_000, 3_600_000];
/** None hides a suspension: the next comparison would find that, but `one` has none. */
const WALL_CLOCK_CHANGES_MILLISECONDS = [-606_500, 1_212_500, -3_607_500, 3_000, -2_500, 76_500, -7_500];
/** The time between two comparisons with the database. */
const NOTICED_AFTER_MILLISECONDS = 5_000;

/** Only what has ended can be deleted, and only what has succeeded has objects. */
const DELETED_STATES: readonly Task["state"][] = ["succeeded"];

/** The states of tasks for which a work can have something to do. */
const WORK_IN: Record<WorkName, readonly string[]> = {
  start: ["queued"],
  sweep: ["queued", "reserved", "submitted", "generated", "succeeded", "hidden"],
  settle: ["submitted"],
  check: ["generated"],
  keep: ["succeeded"],
  erase: ["hidden"],
  deliver: ["succeeded", "failed"],
};

/** What resolves a due task, by its state. */
const WORK_ON: Record<Task["state"], WorkName> = {
  queued: "sweep",
  reserved: "sweep",
  submitted: "settle",
  generated: "check",
  succeeded: "keep",
  failed: "keep",
};

const CANCELS_IN_A_ROW = 10;

/** For each round of the recovery. */
const DELETION_IN_RECOVERY = 0.1;

/** During the recovery, every so many rounds: it corrects due times after a clock was set back. */
const SWEEP_EVERY = 4;

/** From the beginning of the recovery, in true time. Longer than all deadlines of a task together. */
const RECOVERY_MILLISECONDS_MAX = 60 * 60 * 1000;

/** Ordinary runs have a few hundred. */
const EVENTS_MAX = 20_000;

type Key = { readonly key: ApiKey; readonly secret: ApiKeySecret };

class Run {
  private readonly random: SeededRandom;
  private readonly scheduler: Scheduler;
  private readonly seen: Set<string> | undefined;
  private readonly database = new MemoryDatabase();
  private readonly stores = memoryStores(this.database);
  private readonly storage = new MemoryObjectStorage();
  private readonly imaging = new MemoryImaging();
  private readonly secrets = new NodeSecrets();
  private readonly counter: IdCounter = { last: 0 };
  private readonly clocks: Clocks;
  /** Tasks that were being submitted when the clock of the database was set, or before all processes had noticed it. */
  private readonly deadlineCut = new Set<TaskId>();
  /** Tasks for which a generation was started that they do not have, because of that, or because clocks disagree. */
  private readonly startedInVain = new Set<TaskId>();
  private readonly surroundings: Surroundings;
  private readonly upstreams: readonly SimulatedUpstream[];
  private readonly keys: Key[] = [];
  private readonly owners: AccountId[] = [];
  private rules!: Rules;
  private processes: SimulatedProcess[] = [];
  private processCount = 0;
  /** How much the clock of the database is ahead of the true time. */
  private databaseAhead = 0;
  private wallClocksSet = 0;
  /** That of the machine of a process that starts. */
  private readonly wallAhead = 600_000;
  private receiver: "accepts" | "fails" | "is slow" = "accepts";
  /** The clock of the process that asks at the moment. */
  private readonly asking: { now: () => Date } = { now: () => new Date(START) };
  private readonly rateLimits = new MemoryRateLimits(this.asking, RATE_LIMITS);
  private readonly ended: (() => void)[] = [];
  private broken: RuleBroken | undefined;

  constructor(random: SeededRandom, scheduler: Scheduler, seen: Set<string> | undefined) {
    this.random = random;
    this.scheduler = scheduler;
    this.seen = seen;
    this.clocks = random.oneOf(CLOCKS);
    const names = random.chance(0.5) ? ["first"] : ["first", "second"];
    const places = names.map(() => ({
      callsPerSecond: random.oneOf([1, 20, 1000]),
      concurrencyMax: random.oneOf([undefined, 1, 2]),
    }));
    this.upstreams = names.map((name) => new SimulatedUpstream(name, scheduler, (taskId) => this.checkStart(taskId)));
    this.surroundings = {
      scheduler,
      stores: this.stores,
      storage: this.storage,
      imaging: this.imaging,
      secrets: this.secrets,
      upstreams: this.upstreams,
      sender: { send: (webhook: OutgoingWebhook) => this.receive(webhook) },
      places,
      lostConnections: random.oneOf([0, 0.02]),
      onStoreCall: (call, args) => this.afterStoreCall(call, args),
      onReport: (event) => this.reported(event),
      onUpstreamCall: (process, upstream) => this.checkCall(process, upstream),
      onFailure: (error) => this.failed(error),
    };
  }

  async play(): Promise<void> {
    await this.begin();
    const { random } = this;
    const { min, max } = random.oneOf(LENGTHS);
    for (let left = min + random.below(max - min + 1); left > 0; left -= 1) {
      await this.take(random.oneOf(STEPS));
      await this.happen(random.below(16));
      if (random.chance(0.5)) await this.pass(500);
    }
    await this.recover();
    for (const check of this.ended) check();
    this.rules.atTheEnd(this.upstreams, this.startedInVain);
    if (this.broken !== undefined) throw this.broken;
  }

  private async begin(): Promise<void> {
    const { stores, database, scheduler, random } = this;
    const ids = new SimulatedIds(this.counter, this.asking.now);
    const ports = { ids, clock: { now: this.asking.now }, secrets: this.secrets };
    for (const amount of CREDITS_AT_FIRST) {
      const id = ids.accountId();
      const at = new Date(START);
      const account = { id, email: `${id}@example.com` as Email, createdAt: at };
      const paid = { ...openOrder(ids.orderId(), id, credits(amount), at), state: "paid", paidAt: at } as const;
      await stores.accounts.open(account, { order: paid });
      await stores.orders.insert(openOrder(ids.orderId(), id, credits(ORDERED_CREDITS), at));
      this.owners.push(id);
    }
    for (const { owner, limits } of KEYS) {
      const key = newApiKey(ports, this.owners[owner] as AccountId, "simulated", { ...NO_LIMITS, ...limits });
      await stores.keys.insert(key.key, () => ok(undefined));
      this.keys.push(key);
    }
    const endpoint = newEndpoint(ports, this.owners[0] as AccountId, "https://customer.example/events");
    await stores.endpoints.insert(endpoint, () => ok(undefined));
    const { places } = this.surroundings;
    this.rules = new Rules(
      database,
      this.storage,
      scheduler,
      new Map(
        this.upstreams.flatMap(({ name }, index) => {
          const max = places[index]?.concurrencyMax;
          return max === undefined ? [] : [[`${name}`, max] as const];
        }),
      ),
      new Map(this.keys.flatMap(({ key }) => (key.limits.creditsPerDay ? [[key.id, key.limits.creditsPerDay]] : []))),
    );
    for (let count = 1 + random.below(3); count > 0; count -= 1) this.startProcess();
  }

  private startProcess(): void {
    const { random, scheduler } = this;
    this.processCount += 1;
    const error = this.clocks === "one" ? 0 : random.below(4_001) - 2_000;
    const process: SimulatedProcess = new SimulatedProcess(
      `process ${this.processCount}`,
      this.surroundings,
      new SimulatedIds(this.counter, () => process.clock.now()),
      this.requestsOf(() => process),
      this.wallAhead,
    );
    scheduler.note(`${process.name} starts`);
    process.correctClock(this.databaseAhead + error - this.wallAhead);
    this.processes.push(process);
  }

  /** The rate limits are shared, as on PostgreSQL. */
  private requestsOf(processOf: () => SimulatedProcess): ApiRequests {
    const requests = new MemoryApiRequests(this.database, this.rateLimits, { now: () => processOf().clock.now() });
    return {
      admit: (secretSha256, kind, task) => {
        this.asking.now = () => processOf().clock.now();
        const admitted = requests.admit(secretSha256, kind, task);
        if ("isOk" in admitted && admitted.isOk() && this.clocks === "one") {
          this.rules.admitted(admitted.value.key.id, kind);
          const { expiresAt } = this.database.keys.get(admitted.value.key.id)?.limits ?? NO_LIMITS;
          const isLate = expiresAt !== undefined && this.scheduler.now >= expiresAt.getTime();
          if (isLate) throw new RuleBroken("an expired key is refused", admitted.value.key.id);
        }
        return admitted;
      },
    };
  }

  private async take(step: (typeof STEPS)[number]): Promise<void> {
    const { random, scheduler } = this;
    scheduler.note(`-- ${step}`);
    const process = random.oneOf(this.processes);
    switch (step) {
      case "create": {
        const times = random.chance(0.15) ? 6 : 1;
        const [key, request] = [random.oneOf(this.keys), random.oneOf(REQUESTS)];
        const idempotencyKey = random.oneOf(IDEMPOTENCY_KEYS) as IdempotencyKey | undefined;
        for (let n = 0; n < times; n += 1) {
          // A client that repeats a request may reach another process.
          const target = n === 0 ? process : random.oneOf(this.processes);
          this.client(target, () => this.create(target, key, request, idempotencyKey));
        }
        return;
      }
      case "poll":
        return this.withTask((task) => this.client(process, () => this.poll(process, task)));
      case "wait":
        return this.withTask((task) => this.client(process, () => this.wait(process, task)));
      case "cancel":
        return this.withTask((task) => this.client(process, () => this.cancel(process, task)));
      case "cancel every second":
        return this.withTask((task) => this.client(process, () => this.cancelEverySecond(process, task)));
      case "webhook": // of the provider
        return this.withTask(({ id }) => {
          this.client(process, () => process.useCases.makeDueNow(id));
          this.wake(process, "settle");
        });
      case "delete":
        return this.withTask((task) => this.client(process, () => this.delete(process, task)), DELETED_STATES);
      case "pay":
        return this.client(process, () => process.useCases.payOrder(random.oneOf([...this.database.orders.keys()])));
      case "work":
        return this.wake(process, random.oneOf(this.worksNow()));
      case "all work":
        for (const work of this.worksNow()) this.wake(process, work);
        return;
      case "pass":
        return this.pass(random.oneOf(PASSES_MILLISECONDS));
      case "jump in time": // the whole machine is suspended
        return this.suspend(random.oneOf(PASSES_MILLISECONDS));
      case "mood":
        return this.changeMood(random.oneOf(this.upstreams));
      case "storage":
        this.storage.available = random.chance(0.6);
        this.imaging.thumbnails = random.chance(0.7);
        return;
      case "receiver":
        this.receiver = random.oneOf(["accepts", "fails", "is slow"]);
        return;
      case "restart":
        return this.restart(process);
      case "pause":
        process.paused = !process.paused;
        return;
      case "sleep":
        return this.sleep(process, random.oneOf(PASSES_MILLISECONDS));
      case "set a clock":
        return this.setClock();
    }
  }

  private wake(process: SimulatedProcess, work: WorkName): void {
    this.scheduler.as(process, () => process.wake(work));
  }

  /** Its machine halts the process for a while. Then what it has begun goes on, and its timers are late. */
  private sleep(process: SimulatedProcess, milliseconds: number): void {
    process.paused = true;
    this.scheduler.after(undefined, milliseconds, `${process.name} goes on`, () => {
      process.paused = false;
    });
  }

  /** A task that clients know, if there is one, and of one of these states, if there is one. */
  private withTask(use: (task: Task) => void, preferred: readonly Task["state"][] = []): void {
    const stored = [...this.database.tasks.values()];
    const wanted = stored.filter(({ task, hidden }) => !hidden && preferred.includes(task.state));
    if (stored.length > 0) use(this.random.oneOf(wanted.length > 0 ? wanted : stored).task);
  }

  /** What a client does. Its request may fail only because a connection was lost. */
  private client(process: SimulatedProcess, call: () => Promise<unknown>): void {
    const called = this.scheduler.as(process, () => process.counted(call()));
    called.catch((error: unknown) => this.failed(error));
  }

  private async create(
    process: SimulatedProcess,
    { key, secret }: Key,
    request: CreationRequest,
    idempotencyKey: IdempotencyKey | undefined,
  ): Promise<void> {
    const admitted = await process.requests.admit(this.secrets.sha256(secret), "write");
    if (admitted.isErr()) return this.see(`refused: ${admitted.error.kind}`);
    const { accountId } = admitted.value;
    process.ids.lastTaskId = undefined;
    const call = process.useCases.createPanorama(accountId, request, idempotencyKey, { apiKey: admitted.value.key });
    const taskId = process.ids.lastTaskId;
    if (taskId === undefined) return this.must(false, "a creation gets an id", "there is none");
    if (idempotencyKey !== undefined) this.rules.used.push({ accountId, key: idempotencyKey, taskId });
    this.must(admitted.value.key.id === key.id, "a request is made with its key", key.id);
    const answer = await call;
    answer.match(
      (created) => this.checkCreated({ accountId, request, idempotencyKey, taskId }, created),
      (refusal) => this.checkRefused(taskId, refusal),
    );
  }

  private checkCreated(creation: Creation, { task, replayed }: CreatedPanorama): void {
    this.see(replayed ? "replayed" : `created: ${task.state}`);
    this.must(task.accountId === creation.accountId, "a client gets its own task", task.id);
    if (!replayed) {
      this.must(task.id === creation.taskId, "a creation answers with its task", task.id);
      this.must(statusOf(task) !== "failed", "a creation that is accepted has not failed", task.id);
      return;
    }
    const { accountId, idempotencyKey, request } = creation;
    const named = this.rules.used.some(
      (used) => used.taskId === task.id && used.key === idempotencyKey && used.accountId === accountId,
    );
    const isEqual = canonicalText(task.request) === canonicalText(request);
    this.must(named && isEqual, "a replay is the task of its key and its request", task.id);
  }

  private checkRefused(taskId: TaskId, { kind }: CreatePanoramaError): void {
    this.see(`refused: ${kind}`);
    this.ended.push(() => {
      const state = this.database.tasks.get(taskId)?.task.state;
      const isFree = state === undefined || (kind === "upstream_error" && state === "failed");
      this.must(isFree, "a refused creation costs nothing", `${taskId} is ${state} after ${kind}`);
    });
  }

  private async poll(process: SimulatedProcess, { id, accountId }: Task): Promise<void> {
    const { key, secret } = this.random.oneOf(this.keys);
    const admitted = await process.requests.admit(this.secrets.sha256(secret), "read", id);
    if (admitted.isErr()) return this.see(`refused: ${admitted.error.kind}`);
    const shown = admitted.value.task;
    this.must(shown === undefined || key.accountId === accountId, "a task is shown to its owner only", id);
  }

  private async wait(process: SimulatedProcess, { id, accountId }: Task): Promise<void> {
    const answer = await process.useCases.waitForTask(id, accountId, 30_000, new AbortController().signal);
    this.see(`waited: ${answer.isOk() ? statusOf(answer.value) : answer.error.kind}`);
  }

  private async cancel(process: SimulatedProcess, { id, accountId }: Task): Promise<void> {
    const answer = await process.useCases.cancelTask(id, accountId);
    if (answer.isErr()) return this.see(`cancellation: ${answer.error.kind}`);
    const told = answer.value;
    this.see(`cancellation: ${told.state}`);
    if (isActive(told)) return;
    const state = this.database.tasks.get(id)?.task.state;
    this.must(state === told.state, "what a client is told stays true", `${id} was ${told.state}, is ${state}`);
  }

  private async cancelEverySecond(process: SimulatedProcess, task: Task): Promise<void> {
    for (let left = CANCELS_IN_A_ROW; left > 0; left -= 1) {
      await this.cancel(process, task);
      await process.clock.sleep(1_000);
    }
  }

  private async delete(process: SimulatedProcess, { id, accountId }: Task): Promise<void> {
    this.rules.deletionsBegun.add(id);
    const answer = await process.useCases.deletePanorama(id, accountId);
    this.see(`deletion: ${answer.isOk() ? "done" : answer.error.kind}`);
    if (answer.isErr()) return;
    const hidden = this.database.shown(id, accountId) === undefined;
    this.must(hidden, "a deleted task is not found", id);
  }

  /** The customer's server. */
  private async receive({ id, url }: OutgoingWebhook): Promise<AttemptResult> {
    const { deliveries, endpoints } = this.database;
    const isTo = (endpoint: EndpointId) => (endpoints.get(endpoint)?.url ?? TASK_WEBHOOK_URL) === url;
    const delivery = deliveries.find(({ event, endpointId }) => eventIdOf(event) === id && isTo(endpointId));
    const isBehind = deliveries.some(
      ({ event, lane, delivery: { state } }) =>
        state === "pending" &&
        lane === delivery?.lane &&
        "taskId" in event &&
        "taskId" in delivery.event &&
        event.taskId === delivery.event.taskId &&
        event.number < delivery.event.number,
    );
    this.must(!isBehind, "the events of a task are sent in their order", id);
    if (this.receiver === "accepts") return { kind: "delivered", detail: "200" };
    return { kind: "failed", detail: this.receiver, isGone: false, isUnanswered: this.receiver === "is slow" };
  }

  private changeMood(upstream: SimulatedUpstream): void {
    const part = this.random.oneOf(Object.keys(MOODS) as (keyof Mood)[]);
    upstream.mood = { ...upstream.mood, [part]: this.random.oneOf<string>(MOODS[part]) };
    this.scheduler.note(`${upstream.name}: ${part}: ${upstream.mood[part]}`);
  }

  private restart(process: SimulatedProcess): void {
    this.scheduler.note(`${process.name} is killed`);
    process.alive = false;
    this.processes = this.processes.filter((one) => one !== process);
    this.startProcess();
  }

  private suspend(milliseconds: number): void {
    this.scheduler.now += milliseconds;
    for (const process of this.processes) process.suspendedMilliseconds += milliseconds;
  }

  private setClock(): void {
    if (this.clocks === "one") {
      this.setWallClocks();
      return;
    }
    const change = this.random.oneOf(CLOCK_CHANGES_MILLISECONDS);
    if (this.clocks === "disagree") {
      this.random.oneOf(this.processes).correctClock(change);
      return;
    }
    this.databaseAhead += change;
    this.scheduler.note(`the clock of the database is set by ${change} ms`);
    for (const process of this.processes) process.noticeLater(change, NOTICED_AFTER_MILLISECONDS);
    this.excuseSubmissions();
  }

  /** Nobody must notice it. */
  private setWallClocks(): void {
    const changes = WALL_CLOCK_CHANGES_MILLISECONDS;
    for (const process of this.processes) {
      const change = changes[this.wallClocksSet % changes.length] ?? 0;
      this.wallClocksSet += 1;
      process.wallAheadMilliseconds += change;
      this.scheduler.note(`${process.name}: its wall clock is set by ${change} ms`);
    }
  }

  /** While the processes do not agree about the time. */
  private excuseSubmissions(): void {
    if (this.processes.every(({ unnoticed }) => unnoticed === 0)) return;
    for (const { task } of this.database.tasks.values()) {
      if (task.state === "reserved") this.deadlineCut.add(task.id);
    }
  }

  /**
   * While processes do not agree about the time, a submission may look lost that has just begun: its generation starts
   * after it was looked for, and before its task is queued again.
   */
  private excuseRequeues(): void {
    for (const { task } of this.database.tasks.values()) {
      const wasStarted = task.state === "queued" && this.startedFor(task.id) > 0;
      if (wasStarted && this.mayLookOverdue(task.id)) this.startedInVain.add(task.id);
    }
  }

  /** A submission that has just begun. */
  private mayLookOverdue(taskId: TaskId): boolean {
    return this.clocks === "disagree" || this.deadlineCut.has(taskId);
  }

  /** A provider starts a generation. */
  private checkStart(taskId: TaskId): void {
    const state = this.database.tasks.get(taskId)?.task.state;
    const isRepeated = this.startedFor(taskId) > 0;
    if (this.mayLookOverdue(taskId)) {
      if (isRepeated || state !== "reserved") this.startedInVain.add(taskId);
      return;
    }
    if (isRepeated) throw new RuleBroken("nothing is started twice", taskId);
    if (state !== "reserved") throw new RuleBroken("only a reserved task is started", `${taskId} is ${state}`);
  }

  private startedFor(taskId: TaskId): number {
    return this.upstreams.reduce((sum, upstream) => sum + upstream.startedFor(taskId).length, 0);
  }

  private checkCall(process: SimulatedProcess, upstream: SimulatedUpstream): void {
    const place = this.surroundings.places[this.upstreams.indexOf(upstream)];
    if (place !== undefined && this.clocks === "one") this.rules.called(process, upstream, place.callsPerSecond);
  }

  private reported(event: OperationalEvent): void {
    this.see(event.kind === "task_failed" ? `failed: ${event.reason}` : event.kind);
    if (event.kind === "work_failed") this.failed(event.error);
  }

  private failed(error: unknown): void {
    if (error instanceof ConnectionLost) {
      this.see("connection lost");
      return;
    }
    // A refusal of the storage is reported as text.
    if (typeof error === "string") return;
    this.broken ??=
      error instanceof RuleBroken ? error : new RuleBroken("nothing throws", String((error as Error).stack));
  }

  /** Inside of what the application calls, a broken rule is remembered, because an error would be caught there. */
  private must(holds: boolean, rule: string, detail: string): void {
    if (!holds) this.broken ??= new RuleBroken(rule, detail);
  }

  private see(what: string): void {
    this.seen?.add(what);
  }

  private afterStoreCall(call: string, args: readonly unknown[]): void {
    this.rules.afterStoreCall();
    if (this.clocks === "one") {
      this.rules.checkDueTimes(call, args);
      return;
    }
    this.excuseSubmissions();
    this.excuseRequeues();
  }

  /** Lets so many events happen, or all that can. */
  private happen(count = Number.POSITIVE_INFINITY): Promise<void> {
    const { scheduler } = this;
    const last = scheduler.events + count;
    return scheduler.run(() => {
      if (this.broken !== undefined) throw this.broken;
      if (scheduler.events > EVENTS_MAX) throw new RuleBroken("a run ends", `more than ${EVENTS_MAX} events`);
      return scheduler.events < last;
    });
  }

  /** Lets time pass, with everything that happens in it. */
  private async pass(milliseconds: number): Promise<void> {
    const { scheduler } = this;
    const end = scheduler.now + milliseconds;
    do {
      await this.happen();
    } while (scheduler.advanceToTimer(end - scheduler.now));
    scheduler.now = Math.max(scheduler.now, end);
  }

  /** Everything works again, and the processes have time. */
  private async recover(): Promise<void> {
    const { scheduler, storage, imaging, random } = this;
    scheduler.note("-- recover");
    for (const upstream of this.upstreams) upstream.mood = GOOD_MOOD;
    storage.available = true;
    imaging.thumbnails = true;
    this.receiver = "accepts";
    for (const process of this.processes) process.paused = false;
    if (random.chance(0.3)) for (const process of [...this.processes]) this.restart(process);

    const deadline = scheduler.now + RECOVERY_MILLISECONDS_MAX;
    for (let round = 0; !this.isDone(); round += 1) {
      if (scheduler.now > deadline) return; // the rules say what is left
      const process = random.oneOf(this.processes);
      const works = this.worksDueAt(process.clock.now());
      if (round % SWEEP_EVERY === SWEEP_EVERY - 1) works.add("sweep");
      for (const work of works) this.wake(process, work);
      if (random.chance(DELETION_IN_RECOVERY)) await this.take("delete"); // while thumbnails are made again
      await this.passUntilIdle();
      scheduler.now += random.oneOf([5_000, 60_000]);
    }
  }

  /** All that have something to do at this time. */
  private worksDueAt(now: Date): Set<WorkName> {
    const works = new Set<WorkName>();
    for (const { task, hidden, dueAt } of this.database.tasks.values()) {
      if (task.state === "queued") works.add("start");
      if (dueAt !== undefined && dueAt <= now) works.add(hidden ? "erase" : WORK_ON[task.state]);
    }
    const isDue = this.database.deliveries.some(
      ({ delivery }) => delivery.state === "pending" && delivery.dueAt <= now,
    );
    if (isDue) works.add("deliver");
    return works;
  }

  /** All that may have something to do. */
  private worksNow(): readonly WorkName[] {
    const states = new Set<string>();
    for (const { task, hidden } of this.database.tasks.values()) states.add(hidden ? "hidden" : task.state);
    const works = WORKS.filter((work) => WORK_IN[work].some((state) => states.has(state)));
    return works.length === 0 ? WORKS : works;
  }

  private async passUntilIdle(): Promise<void> {
    const { scheduler } = this;
    do {
      await this.happen();
    } while (this.processes.some(({ running }) => running > 0) && scheduler.advanceToTimer(60_000));
  }

  private isDone(): boolean {
    for (const { task, hidden, dueAt } of this.database.tasks.values()) {
      if (dueAt !== undefined || (!hidden && isInProgress(task))) return false;
    }
    return true;
  }
}

type Creation = {
  readonly accountId: AccountId;
  readonly request: CreationRequest;
  readonly idempotencyKey: IdempotencyKey | undefined;
  /** The id that this creation has chosen. */
  readonly taskId: TaskId;
};
