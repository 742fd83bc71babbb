import { InProcessTaskSignals } from "../../adapters/memory/in-process-signals.js";
import type { Row, Sql } from "../../adapters/persistence/database/sql/database.js";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { deleteOldEvents } from "../../application/background/erase.js";
import { providerWebhooks } from "../../application/background/receive-provider-webhook.js";
import { purchases } from "../../application/credits/purchases.js";
import { eventBody } from "../../application/events/panorama-task.js";
import { operatedPanoramas } from "../../application/operators/panoramas.js";
import { uploads } from "../../application/panoramas/uploads.js";
import { eventDelivery } from "../../application/webhooks/deliver-events.js";
import type { TaskId } from "../../domain/ids.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { isActive, type Task } from "../../domain/tasks/task.js";
import { useCases } from "../support/application.js";
import { type AnyDatabase, sqlStores } from "../support/sql-stores.js";
import { type Fault, failureOf, type Target } from "./faults.js";
import type { Surroundings } from "./surroundings.js";

/** A fault at the n-th call of a port, from 1 on. */
export type PlannedFault = { readonly target: Target; readonly n: number; readonly fault: Fault };

/** Thrown by a call with the fault `throw`. */
export class InjectedError extends Error {
  override name = "InjectedError";
}

/** Longer than any caller waits for a port that does not answer. */
const TIME_LIMIT_MILLISECONDS = 10_000;

export const DELIVERY_LEASE_MILLISECONDS = 20_000;

/** Methods that return at once, without a promise. */
const INSTANT: ReadonlySet<string | symbol> = new Set([
  "checkRequest",
  "places",
  "readiness",
  "nextPollMilliseconds",
  "urlOf",
  "nameOf",
]);

/** Remembers the id of the task that a creation makes. */
class RecordingIds extends RandomIds {
  lastTaskId: TaskId | undefined;

  override taskId(): TaskId {
    this.lastTaskId = super.taskId();
    return this.lastTaskId;
  }
}

/** Remembers the tasks whose ends it announces. */
class RecordingSignals extends InProcessTaskSignals {
  private readonly ends: Set<TaskId>;

  constructor(ends: Set<TaskId>) {
    super();
    this.ends = ends;
  }

  override announce(task: Task): void {
    if (!isActive(task)) this.ends.add(task.id);
    super.announce(task);
  }
}

const never = <T>(): Promise<T> => new Promise(() => {});

/**
 * One process of the service: the use cases, wired to ports that count every call, and that suffer one planned fault.
 * After it was killed, no call of it takes effect and none is answered.
 */
export class Instance {
  /** How often each port was called. */
  readonly calls = new Map<Target, number>();
  readonly useCases: ReturnType<typeof this.wire>;
  readonly ids = new RecordingIds();
  /** Resolves when the instance is killed, and the database has rolled back its transactions. */
  readonly killed: Promise<void>;
  isDead = false;
  hasStruck = false;
  private die = () => {};
  private readonly transactions = new Set<Promise<unknown>>();
  private readonly around: Surroundings;
  private readonly plan: PlannedFault | undefined;
  /** Lets another instance run while a call of this one is under way. */
  private readonly letOthersRun: (kind: "recover" | "rest" | "twin") => Promise<void>;

  constructor(
    around: Surroundings,
    plan?: PlannedFault,
    letOthersRun: (kind: "recover" | "rest" | "twin") => Promise<void> = async () => {},
  ) {
    this.around = around;
    this.plan = plan;
    this.letOthersRun = letOthersRun;
    this.killed = new Promise<void>((resolve) => {
      this.die = resolve;
    }).then(async () => {
      await Promise.allSettled(this.transactions);
    });
    this.useCases = this.wire();
  }

  private wire() {
    const { clock, reporter, ...outside } = this.around;
    const stores = sqlStores(this.guardDatabase(outside.database), { reporter });
    const guarded = <Port extends object>(name: string, port: Port) => this.guard(name, port);
    const storage = guarded("storage", outside.storage);
    const ports = {
      accounts: guarded("accounts", stores.accounts),
      orders: guarded("orders", stores.orders),
      keys: guarded("keys", stores.keys),
      ledger: guarded("ledger", stores.ledger),
      endpoints: guarded("endpoints", stores.endpoints),
      deliveries: guarded("deliveries", stores.deliveries),
      events: guarded("events", stores.events),
      references: guarded("references", stores.references),
      tasks: guarded("tasks", stores.tasks),
      operators: guarded("operators", stores.operators),
      operatorLog: stores.operatorLog,
      countersAt: stores.countersAt,
      provider: guarded("provider", outside.provider),
      storage,
      imaging: guarded("imaging", outside.imaging),
      webhookSender: guarded("sender", outside.sender),
      providerWebhooks: new Map([["scripted", guarded("webhooks", outside.webhooks)]]),
      wakePolls: () => {},
      secrets: new NodeSecrets(),
      signals: new RecordingSignals(outside.announced),
      ids: this.ids,
      clock,
      reporter,
    };
    const bodyOf: Parameters<typeof eventDelivery>[1]["bodyOf"] = (event, task) =>
      eventBody(event, task, { storage, viewerUrl: undefined });
    const requests = guarded("requests", stores.countersAt(clock, PANORAMA_POLICY.rates).apiRequests);
    return {
      ...useCases(ports),
      admit: requests.admit.bind(requests),
      hide: operatedPanoramas({ ...ports, operators: guarded("operators", stores.operators) }).hidePanorama,
      upload: uploads(ports, { policy: PANORAMA_POLICY, referenceRetentionHours: 24 }).uploadImages,
      receiveWebhook: providerWebhooks(ports).receiveProviderWebhook,
      deliver: eventDelivery(ports, { leaseMilliseconds: DELIVERY_LEASE_MILLISECONDS, concurrency: 4, bodyOf }).deliver,
      forget: () => deleteOldEvents(ports),
      buyPack: purchases({ ...ports, payments: guarded("payments", outside.payments) }).buy,
      receivePayment: purchases({ ...ports, payments: outside.payments }).receivePaymentWebhook,
    };
  }

  private guard<Port extends object>(name: string, port: Port): Port {
    return new Proxy(port, {
      get: (target, method) => {
        const member: unknown = Reflect.get(target, method);
        if (typeof member !== "function") return member;
        if (INSTANT.has(method)) return member.bind(target);
        return (...args: unknown[]) =>
          this.call(`${name}.${String(method)}`, args, async () => member.apply(target, args));
      },
    });
  }

  /** Counts the statements too, so that a fault can strike between two statements of a transaction. */
  private guardDatabase(database: AnyDatabase): AnyDatabase {
    return new Proxy(database, {
      get: (target, name) => {
        if (name === "transaction") {
          const transaction: AnyDatabase["transaction"] = (work) => {
            const ended = target.transaction((sql) =>
              work((text, parameters) => this.statement(sql, text, parameters)),
            );
            this.transactions.add(ended);
            void ended.finally(() => this.transactions.delete(ended)).catch(() => {});
            return ended;
          };
          return transaction;
        }
        if (name === "sql") {
          const sql: AnyDatabase["sql"] = (...args) => this.call("database.sql", args, () => target.sql(...args));
          return sql;
        }
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  }

  /** A statement of a transaction. If the process is killed, the database rolls the transaction back. */
  private async statement(sql: Sql, text: string, parameters?: readonly unknown[]): Promise<Row[]> {
    const hit = this.count("database.statement");
    if (hit?.kind === "full") {
      await sql("rollback");
      throw new InjectedError("database or disk is full");
    }
    const rows = await sql(text, parameters);
    if (hit !== undefined) await this.strike(hit);
    if (this.isDead) throw new InjectedError("killed within a transaction");
    return rows;
  }

  private async call<T>(target: Target, args: readonly unknown[], perform: () => Promise<T>): Promise<T> {
    if (this.isDead) return never();
    const hit = this.count(target);
    const end = this.around.underWay.begin(target, args);
    try {
      if (hit?.moment === "before") await this.strike(hit);
      if (hit?.kind === "never answers") {
        void this.around.clock.advance(TIME_LIMIT_MILLISECONDS);
        return await never();
      }
      if (hit?.kind === "fail" && hit.moment === "before") return failureOf(target) as T;
      const answer = this.isDead ? await never<T>() : await perform();
      if (hit?.moment === "after") await this.strike(hit);
      if (hit?.kind === "fail") return failureOf(target) as T;
      return this.isDead ? await never() : answer;
    } catch (error) {
      if (this.isDead) return await never();
      throw error;
    } finally {
      end();
    }
  }

  private count(target: Target): Fault | undefined {
    const n = (this.calls.get(target) ?? 0) + 1;
    this.calls.set(target, n);
    if (this.plan?.target !== target || this.plan.n !== n) return undefined;
    this.hasStruck = true;
    return this.plan.fault;
  }

  private async strike(fault: Fault): Promise<void> {
    switch (fault.kind) {
      case "kill":
        this.isDead = true;
        this.around.underWay.clear();
        return this.die();
      case "throw":
        throw new InjectedError();
      case "time":
        this.around.underWay.leasesExpire = true;
        if (fault.milliseconds < 0) return this.around.clock.setBack(-fault.milliseconds);
        return this.around.clock.advance(fault.milliseconds);
      case "recover":
        this.around.underWay.leasesExpire = true;
        return this.letOthersRun("recover");
      case "rest":
      case "twin":
        return this.letOthersRun(fault.kind);
      default: // `call` returns the answer
    }
  }
}
