import { ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  anAccount,
  anEndpoint,
  aPaidOrder,
  aPendingOrder,
  aPlace,
  aSubmittingTask,
  noon,
  orderId,
  secondsAfter,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { Metrics } from "../../../adapters/observability/metrics.js";
import { TaskMetrics } from "../../../adapters/observability/task-metrics.js";
import { SqlOrderStore } from "../../../adapters/persistence/credits/sql-order-store.js";
import { readBacklog } from "../../../adapters/persistence/tasks/backlog.js";
import { sqlTasks } from "../../../adapters/persistence/tasks/sql-tasks.js";
import { credits } from "../../../domain/credits/credits.js";
import { pay } from "../../../domain/credits/order.js";
import { fail, submit } from "../../../domain/tasks/task.js";
import type { Stores } from "../../contracts/stores.js";
import { taskSteps } from "../../contracts/task-steps.js";
import type { AnyDatabase } from "../sql-stores.js";

/** What a store tells the metrics about tasks and orders, and what it reads for them. */
export const describeTaskMetrics = (
  technology: string,
  makeStores: () => Promise<Stores & { readonly database: AnyDatabase }>,
): unknown =>
  describe(`TaskMetrics ${technology}`, () => {
    const later = secondsAfter(noon, 60);
    let stores: Awaited<ReturnType<typeof makeStores>>;
    let metrics: Metrics;
    let clock: HandClock;
    let tasks: ReturnType<typeof sqlTasks>;

    beforeEach(async () => {
      stores = await makeStores();
      metrics = new Metrics({ version: "1.2.3", node: "v20.0.0" });
      clock = new HandClock();
      tasks = sqlTasks(stores.database, { observer: new TaskMetrics(metrics, clock) });
      await stores.accounts.open(anAccount(), { order: aPaidOrder() });
    });
    afterEach(() => stores.close());

    const { open: openIn, succeeded } = taskSteps(() => tasks);
    const open = (n: number, differences: { readonly traceparent?: string } = {}) =>
      openIn(aSubmittingTask({ id: taskId(n), ...differences }), later);
    const samples = async (name: string) =>
      (await metrics.text()).split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

    it("counts credits that are reserved, charged and refunded, each once", async () => {
      const [first, second] = [await open(1), await open(2)];
      await succeeded(first);
      await tasks.move(second, fail(second, "refused", noon), undefined);
      expect((await tasks.move(second, fail(second, "refused", noon), undefined)).isErr()).toBe(true);
      const { credits: cost } = first.reservation;
      expect(await samples("panorama_credits_total")).toEqual([
        `panorama_credits_total{kind="reserved"} ${2 * cost}`,
        `panorama_credits_total{kind="charged"} ${cost}`,
        `panorama_credits_total{kind="refunded"} ${cost}`,
        'panorama_credits_total{kind="granted"} 0',
      ]);
      expect(await samples("panorama_stale_writes_total")).toEqual(["panorama_stale_writes_total 1"]);
    });

    it("counts the credits of an order once for repeated payments", async () => {
      const orders = new SqlOrderStore(stores.database, (order) => new TaskMetrics(metrics, clock).paid(order));
      const order = aPendingOrder({ id: orderId(2), credits: credits(70) });
      await orders.insert(order);
      for (let n = 0; n < 2; n += 1) await orders.pay(pay(order, noon)._unsafeUnwrap());
      expect(await samples("panorama_credits_total")).toContain('panorama_credits_total{kind="granted"} 70');
    });

    it("measures the wait of a task that left the queue, and counts leases", async () => {
      const task = await open(1);
      (await tasks.requeue(task, later))._unsafeUnwrap();
      await clock.advance(7_000);
      expect(await tasks.startQueued([aPlace(undefined)], 10, noon, later)).toHaveLength(1);
      expect(await samples("panorama_queue_wait_seconds_sum")).toEqual(["panorama_queue_wait_seconds_sum 7"]);
      expect(await tasks.claim("recover", later, secondsAfter(later, 60), 10)).toHaveLength(1);
      expect(await samples("panorama_leases_total")).toEqual(['panorama_leases_total{work="recover"} 1']);
    });

    it("keeps the trace context of a creation for background work and webhooks", async () => {
      await stores.endpoints.insert(anEndpoint(), () => ok(undefined));
      const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
      const [traced, other] = [await open(1, { traceparent }), await open(2)];
      const leases = await tasks.claim("recover", later, secondsAfter(later, 60), 10);
      const ofTask = Object.fromEntries(leases.map(({ task }) => [task.id, task.traceparent]));
      expect(ofTask).toEqual({ [traced.id]: traceparent, [other.id]: undefined });
      (await tasks.requeue(traced, later))._unsafeUnwrap();
      const [started] = await tasks.startQueued([aPlace(undefined)], 10, noon, later);
      if (started === undefined) throw new Error("no task was started");
      expect(started.traceparent).toBe(traceparent);
      (await tasks.move(started, fail(started, "refused", noon), undefined))._unsafeUnwrap();
      const [delivery] = await stores.deliveries.claim({
        now: noon,
        until: later,
        limit: 10,
        laneLimit: 10,
        busyLanes: [],
        choose: (due) => due,
      });
      expect(delivery?.task?.traceparent).toBe(traceparent);
    });

    it("reads unfinished tasks by state, and webhooks that wait", async () => {
      const fourth = await succeeded(await open(4));
      await stores.endpoints.insert(anEndpoint(), () => ok(undefined));
      const [first, second, third] = [await open(1), await open(2), await open(3)];
      await tasks.move(second, submit(second, "upstream-2", noon), secondsAfter(noon, 5));
      await tasks.requeue(third, later);
      await tasks.move(first, fail(first, "refused", later), undefined);
      await tasks.delete(fourth.id, fourth.accountId, later);
      await stores.orders.insert(aPendingOrder({ id: orderId(2) }));
      await stores.orders.insert(aPendingOrder({ id: orderId(3), createdAt: secondsAfter(noon, -31 * 24 * 60 * 60) }));
      const backlog = await readBacklog(stores.database.sql, later);
      expect(Object.fromEntries(backlog.tasks)).toEqual({
        queued: { waiting: 1, oldest: noon, dueAt: later },
        submitting: { waiting: 0, oldest: undefined, dueAt: undefined },
        submitted: { waiting: 1, oldest: noon, dueAt: secondsAfter(noon, 5) },
        generated: { waiting: 0, oldest: undefined, dueAt: undefined },
        succeeded: { waiting: 0, oldest: undefined, dueAt: undefined },
        erasing: { waiting: 1, oldest: later, dueAt: later },
      });
      expect(backlog.pendingOrders).toEqual({ waiting: 1, oldest: noon });
      expect(backlog.deliveries).toMatchObject({ waiting: 1, dueAt: later });
    });
  });
