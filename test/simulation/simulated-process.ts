import { InProcessTaskSignals } from "../../adapters/memory/in-process-task-signals.js";
import type { MemoryImaging } from "../../adapters/memory/memory-imaging.js";
import type { MemoryObjectStorage } from "../../adapters/memory/memory-object-storage.js";
import type { memoryStores } from "../../adapters/memory/stores/memory-stores.js";
import { ProviderChain } from "../../adapters/provider/provider-chain.js";
import { RemoteProvider } from "../../adapters/provider/remote/remote-provider.js";
import { WorkSchedule } from "../../adapters/scheduling/work-schedule.js";
import { SteadyClock } from "../../adapters/system/steady-clock.js";
import { generationTime } from "../../application/panoramas/forecast-task.js";
import type { Clock } from "../../application/ports/clock.js";
import type { GenerationProvider } from "../../application/ports/generation-provider.js";
import type { OperationalEvent } from "../../application/ports/reporter.js";
import type { ApiRequests } from "../../application/ports/stores/rate-limits.js";
import type { DueBounds } from "../../application/ports/stores/tasks/task-work.js";
import type { WebhookSender } from "../../application/ports/webhook-sender.js";
import { deliverEvents } from "../../application/webhooks/deliver-events.js";
import type { TaskId } from "../../domain/ids.js";
import { eventIdOf } from "../../domain/tasks/account-event.js";
import { isActive } from "../../domain/tasks/task.js";
import { GENERATION_DEADLINE_MILLISECONDS, type UseCases, useCases } from "../support/application.js";
import { ConnectionLost } from "../support/port-gates.js";
import type { Owner, Scheduler } from "./scheduler.js";
import type { SimulatedIds } from "./simulated-ids.js";
import { type SimulatedUpstream, simulatedDialect } from "./simulated-upstream.js";

/** What all processes share. */
export type Surroundings = {
  readonly scheduler: Scheduler;
  readonly stores: ReturnType<typeof memoryStores>;
  readonly storage: MemoryObjectStorage;
  readonly imaging: MemoryImaging;
  readonly secrets: Parameters<typeof useCases>[0]["secrets"];
  readonly upstreams: readonly SimulatedUpstream[];
  readonly sender: WebhookSender;
  /** The settings of each upstream, in their order. */
  readonly places: readonly { readonly callsPerSecond: number; readonly concurrencyMax: number | undefined }[];
  /** The part of the calls of a store whose connection is lost, before or after they are done. */
  readonly lostConnections: number;
  /** Called after each call of a store, and on what the process reports. */
  readonly onStoreCall: (call: string, args: readonly unknown[]) => void;
  readonly onReport: (event: OperationalEvent) => void;
  readonly onUpstreamCall: (process: SimulatedProcess, upstream: SimulatedUpstream) => void;
  /** Called for an error of background work. */
  readonly onFailure: (error: unknown) => void;
};

export const WORKS = ["start", "settle", "check", "keep", "sweep", "erase", "deliver"] as const;
export type WorkName = (typeof WORKS)[number];

/** Longer than an attempt to deliver an event. */
const DELIVERY_LEASE_MILLISECONDS = 20_000;
const SUBMIT_TIMEOUT_MILLISECONDS = 25_000;

/** One for all, because the stack of an error takes long to write. */
const LOST = new ConnectionLost();

/**
 * One process of the service: its own use cases, schedule, rate limiters and circuit breakers; the stores are shared.
 */
export class SimulatedProcess implements Owner {
  readonly name: string;
  alive = true;
  paused = false;
  /** How far the wall clock of its machine is ahead of the true time. */
  wallAheadMilliseconds = 0;
  /** How long its machine was suspended: its steady clock stood still. */
  suspendedMilliseconds = 0;
  /** How often the clock of the database was set that this process has not noticed yet. */
  unnoticed = 0;
  readonly clock: Clock;
  private readonly steady: SteadyClock;
  readonly useCases: UseCases & { makeDueNow(id: TaskId): Promise<void> };
  readonly requests: ApiRequests;
  readonly ids: SimulatedIds;
  private readonly schedule: WorkSchedule<WorkName>;
  private readonly surroundings: Surroundings;
  /** Number of calls of clients and of background work that have not ended. */
  running = 0;

  constructor(
    name: string,
    surroundings: Surroundings,
    ids: SimulatedIds,
    requests: ApiRequests,
    wallAheadMilliseconds: number,
  ) {
    const { scheduler, stores, storage, imaging, secrets, sender, onReport: report } = surroundings;
    this.name = name;
    this.surroundings = surroundings;
    this.ids = ids;
    this.wallAheadMilliseconds = wallAheadMilliseconds;
    this.steady = new SteadyClock({
      wall: () => scheduler.now + this.wallAheadMilliseconds,
      steady: () => scheduler.now - this.suspendedMilliseconds,
      uptime: () => scheduler.now,
    });
    this.clock = {
      now: () => this.steady.now(),
      sleep: (milliseconds, signal) => this.sleep(milliseconds, signal),
    };
    this.requests = this.gated("requests", requests, 0);
    const lost = surroundings.lostConnections;
    const signals = new InProcessTaskSignals();
    const reporter = { report };
    const ports = {
      ...stores,
      accounts: this.gated("accounts", stores.accounts, lost),
      endpoints: this.gated("endpoints", stores.endpoints, lost),
      tasks: this.gated("tasks", stores.tasks, lost),
      storage: this.gated("storage", storage, 0),
      imaging,
      secrets,
      signals,
      reporter,
      ids,
      clock: this.clock,
      provider: this.provider(),
      generationTime: generationTime(),
    };
    this.useCases = { ...useCases(ports), makeDueNow: (id) => ports.tasks.makeDueNow(id, this.clock.now()) };
    const { start, poll, check, keep, sweep, erase } = this.useCases;
    const deliver = deliverEvents(
      {
        deliveries: this.gated("deliveries", stores.deliveries, lost),
        sender: this.gated("sender", sender, 0),
        clock: this.clock,
        reporter,
      },
      { leaseMilliseconds: DELIVERY_LEASE_MILLISECONDS, concurrency: 2, bodyOf: eventIdOf },
    );
    const works = { start, settle: poll, check, keep, sweep, erase, deliver };
    this.schedule = new WorkSchedule(
      WORKS.map((work) => ({
        name: work,
        cron: "",
        run: (stopping: AbortSignal) => this.counted(works[work](stopping)),
      })),
      this.clock,
      (_, error) => surroundings.onFailure(error),
    );
    // As application/background/background-work.ts does.
    signals.subscribe((task) => {
      if (task.state === "generated") this.wake("check");
      if (task.state === "generated" || !isActive(task)) this.wake("start");
      if (!isActive(task)) this.wake("deliver");
    });
  }

  wake(work: WorkName): void {
    this.schedule.wake(work);
  }

  /** Changes the time that it decides by, as a comparison with the database does. */
  correctClock(milliseconds: number): void {
    this.steady.correct(milliseconds);
    this.surroundings.scheduler.note(`${this.name}: its time is corrected by ${milliseconds} ms`);
  }

  /** The clock of the database was set; the next comparison notices it. */
  noticeLater(milliseconds: number, latestMilliseconds: number): void {
    const { scheduler } = this.surroundings;
    this.unnoticed += 1;
    scheduler.after(this, scheduler.random.below(latestMilliseconds + 1), "compares its clock", () => {
      this.unnoticed -= 1;
      this.correctClock(milliseconds);
    });
  }

  /** Counts the call as running until it has ended. */
  async counted<T>(call: Promise<T>): Promise<T> {
    this.running += 1;
    try {
      return await call;
    } finally {
      this.running -= 1;
    }
  }

  private provider(): GenerationProvider {
    const { scheduler, upstreams, places, onUpstreamCall, storage } = this.surroundings;
    const [first, ...others] = upstreams.map((upstream, index) => {
      const limits = places[index] as Surroundings["places"][number];
      return new RemoteProvider({
        dialect: simulatedDialect(upstream.name, limits),
        settings: {
          ...limits,
          pollMilliseconds: undefined,
          submitTimeoutMilliseconds: SUBMIT_TIMEOUT_MILLISECONDS,
          generationDeadlineMilliseconds: GENERATION_DEADLINE_MILLISECONDS,
        },
        storage,
        publicFetch: upstream.fetchOf(this),
        http: upstream.httpOf(this, () => onUpstreamCall(this, upstream)),
        clock: this.clock,
        warn: (text) => scheduler.note(`${this.name} warns: ${text}`),
        onCircuitChange: (state) => scheduler.note(`${this.name}: the circuit of ${upstream.name} is ${state}`),
      });
    });
    if (first === undefined) throw new RangeError("there is no provider");
    return new ProviderChain([first, ...others], (text) => scheduler.note(`${this.name} warns: ${text}`));
  }

  private sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted || milliseconds <= 0) return resolve();
      const timer = this.surroundings.scheduler.after(this, milliseconds, "wakes up", resolve);
      signal?.addEventListener("abort", () => {
        timer.cancel();
        resolve();
      });
    });
  }

  /**
   * The same port, whose calls are done at a moment that the seed chooses, and answered then or at a later one. What
   * returns no promise is not changed.
   */
  private gated<Port extends object>(name: string, port: Port, lostConnections: number): Port {
    const gate: Gate = {
      port: port as Gate["port"],
      call: (method, args) => this.call(gate.port, name, method, args, lostConnections),
    };
    return Object.assign(Object.create(gatesOf(name, port)), gate);
  }

  private call(port: Gate["port"], name: string, method: string, given: unknown[], lostConnections: number): unknown {
    const { scheduler, onStoreCall } = this.surroundings;
    const args = name === "tasks" && method === "bringForward" ? readingClockFirst(given) : given;
    const { random } = scheduler;
    const label = `${name}.${method}`;
    return new Promise((resolve, reject) => {
      scheduler.add(this, label, () => {
        const isLost = lostConnections > 0 && random.chance(lostConnections);
        if (isLost && random.chance(0.5)) return reject(LOST);
        const answer = port[method]?.(...args);
        onStoreCall(label, args);
        const answered = () => (isLost ? reject(LOST) : resolve(answer));
        if (random.chance(0.7)) answered();
        else scheduler.add(this, scheduler.trace === undefined ? "" : `${label} is answered`, answered);
      });
    });
  }
}

/** The clock is read when the statement is sent, which may be long before the database reads rows. */
const readingClockFirst = ([work, bounds]: unknown[]): unknown[] => {
  const readClock = bounds as () => DueBounds;
  const atFirst = readClock();
  let asked = 0;
  const inTurn = () => {
    asked += 1;
    return asked === 1 ? atFirst : readClock();
  };
  return [work, inTurn];
};

type Gate = {
  readonly port: Record<string, (...args: unknown[]) => unknown>;
  readonly call: (method: string, args: unknown[]) => unknown;
};

/** Methods of ports that return no promise. */
const INSTANT: ReadonlySet<string> = new Set(["urlOf", "nameOf"]);

const knownGates = new Map<string, object>();

/** An object with the methods of the port, made once for each port, because a run makes many processes. */
const gatesOf = (name: string, port: object): object => {
  const known = knownGates.get(name);
  if (known !== undefined) return known;
  const prototype = Object.getPrototypeOf(port) as object;
  const gates: Record<string, unknown> = {};
  const members = Object.getOwnPropertyDescriptors(prototype === Object.prototype ? port : prototype);
  for (const [method, { value }] of Object.entries(members)) {
    if (method === "constructor" || typeof value !== "function") continue;
    gates[method] = INSTANT.has(method)
      ? function (this: Gate, ...args: unknown[]) {
          return this.port[method]?.(...args);
        }
      : function (this: Gate, ...args: unknown[]) {
          return this.call(method, args);
        };
  }
  knownGates.set(name, gates);
  return gates;
};
