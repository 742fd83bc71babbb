import fc from "fast-check";
import { err, ok } from "neverthrow";
import type { ApiKeyStore } from "../../../application/ports/stores/account-stores.js";
import type { Spender, TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import { NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import type { Budgets } from "../../../domain/credits/budget.js";
import { credits } from "../../../domain/credits/credits.js";
import type { TaskId } from "../../../domain/ids.js";
import { fail, finish, type SubmittingTask, submit, succeed } from "../../../domain/tasks/task.js";
import {
  aCreationRequest,
  aNativeSize,
  anApiKey,
  anImageName,
  apiKeyId,
  aSubmittingTask,
  noon,
  openATask,
  taskId,
} from "../support/builders.js";
import { checkProperty, ON_ONE_STORE } from "../support/check-property.js";
import { expect } from "../support/expect.js";
import type { SuiteOptions, TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** Limits of opening by the budget of a key: `open` with `spender`. */
export const describeBudgets = ({ it, beforeEach }: TestFunctions, on: TaskSetup, options: SuiteOptions): void => {
  const { openAccount, owner } = on;
  const budgets: Budgets = { creditsPerDay: credits(20), creditsPerMonth: credits(30) };
  let tasks: TaskStore;
  let keys: ApiKeyStore;

  beforeEach(async () => {
    ({ tasks, keys } = on.stores);
    const limits = { ...NO_LIMITS, ...budgets };
    for (const n of [1, 2]) {
      unwrap(await keys.insert(anApiKey({ id: apiKeyId(n), accountId: owner, limits }), () => ok(undefined)));
    }
  });

  /** Opens the n-th task with a key as a creation does, within its budgets. */
  const spend = (n: number, { key = 1, at = noon, within = budgets, resolution = "1k" } = {}) => {
    const request = aCreationRequest({ resolution });
    const id = apiKeyId(key);
    const task = aSubmittingTask({ id: taskId(n), accountId: owner, request, apiKeyId: id, reservedAt: at });
    const spender = { apiKeyId: id, now: at };
    return tasks.open({
      account: owner,
      dueAt: at,
      decide: (standing, place, spending) =>
        openATask(standing, task, at, { turn: place?.turn, budget: spending && { budgets: within, spending } }),
      spender,
    });
  };
  const failNow = async (opened: Awaited<ReturnType<typeof spend>>) => {
    const task = unwrap(opened).task as SubmittingTask;
    unwrap(await tasks.move(task, fail(task, "refused", noon), undefined));
  };

  it("keeps the key of a task through every state", async () => {
    const { task } = unwrap(await spend(1));
    expect(task.apiKeyId).toBe(apiKeyId(1));
    const one = submit(task as SubmittingTask, "upstream-1", noon);
    unwrap(await tasks.move(task, one, noon));
    expect(await tasks.find(one.id, owner)).toEqual(one);
    const two = succeed(finish(one, "https://p.example/1"), anImageName(1), aNativeSize, noon);
    unwrap(await tasks.move(one, two, noon));
    expect((await tasks.find(one.id, owner))?.apiKeyId).toBe(apiKeyId(1));
    await failNow(await spend(2));
    expect((await tasks.find(taskId(2), owner))?.apiKeyId).toBe(apiKeyId(1));
  });

  it("passes the key's spending to the decision, only with a spender", async () => {
    const seen: unknown[] = [];
    const look = (spender?: Spender) =>
      tasks.open({
        account: owner,
        dueAt: noon,
        decide: (_standing, _turn, spending) => {
          seen.push(spending);
          return err({ kind: "no" as const });
        },
        spender,
      });
    await look();
    await look({ apiKeyId: apiKeyId(1), now: noon });
    unwrap(await spend(1, { at: new Date("2026-01-30T10:00:00Z") }));
    unwrap(await spend(2, { at: new Date("2026-01-31T10:00:00Z"), resolution: "2k" }));
    unwrap(await spend(3, { at: new Date("2026-01-31T10:00:00Z"), key: 2 }));
    await look({ apiKeyId: apiKeyId(1), now: new Date("2026-01-31T23:00:00Z") });
    await look({ apiKeyId: apiKeyId(1), now: new Date("2026-02-01T00:00:00Z") });
    expect(seen).toEqual([
      undefined,
      { today: 0, thisMonth: 0 },
      { today: 6, thisMonth: 10 },
      { today: 0, thisMonth: 0 },
    ]);
  });

  it("gives the credits of a refunded task back to the window in which they were reserved", async () => {
    const first = new Date("2026-01-30T10:00:00Z");
    const second = new Date("2026-01-31T10:00:00Z");
    const early = await spend(1, { at: first, resolution: "4k" });
    unwrap(await spend(2, { at: second, resolution: "4k" }));
    unwrap(await spend(3, { at: second, resolution: "4k" }));
    expect(await spend(4, { at: second })).toMatchObject(err({ kind: "budget_spent", window: "month", left: 0 }));
    await failNow(early);
    expect(await spend(5, { at: second })).toMatchObject(err({ kind: "budget_spent", window: "day", left: 0 }));
    unwrap(await spend(6, { at: first, resolution: "4k" }));
    expect(await spend(7, { at: first })).toMatchObject(err({ kind: "budget_spent", window: "month", left: 0 }));
  });

  it("gives the credits back once when refunds run concurrently", async () => {
    const opened = unwrap(await spend(1)).task as SubmittingTask;
    const refund = fail(opened, "refused", noon);
    await Promise.all(Array.from({ length: 10 }, () => tasks.move(opened, refund, undefined)));
    unwrap(await spend(2));
    const spent = await keys.spending(owner, noon);
    expect(spent.get(apiKeyId(1))).toEqual({ today: 4, thisMonth: 4 });
  });

  it("never exceeds the budget with 50 concurrent creations and refunds", async () => {
    const results = await Promise.all(Array.from({ length: 50 }, (_, n) => spend(n)));
    const opened = results.filter((result) => result.isOk());
    expect(opened).toHaveLength(5); // 20 credits of the day, also the account's five slots
    for (const result of opened.slice(0, 3)) await failNow(result);
    const again = await Promise.all(
      Array.from({ length: 50 }, (_, n) => spend(100 + n, { within: { ...budgets, creditsPerDay: credits(19) } })),
    );
    expect(again.filter((result) => result.isOk())).toHaveLength(2); // 8 are spent, 16 with two more
    const kinds = new Set(again.flatMap((result) => (result.isErr() ? [(result.error as { kind: string }).kind] : [])));
    expect([...kinds]).toEqual(["budget_spent"]);
    expect((await keys.spending(owner, noon)).get(apiKeyId(1))).toEqual({ today: 16, thisMonth: 16 });
  });

  it("equals the sum of unrefunded tasks for random sequences", async () => {
    const step = fc.oneof(
      fc.record({
        key: fc.constantFrom(1, 2),
        day: fc.constantFrom("2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00.000Z", "2026-02-02T00:00:00.000Z"),
        resolution: fc.constantFrom("1k", "2k", "4k"),
      }),
      fc.record({ end: fc.nat(), succeeds: fc.boolean() }),
    );
    let next = 0;
    let lastTask = 0;
    const account = await openAccount(2, 100_000);
    await checkProperty(
      fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 40, size: "max" }), async (steps) => {
        next += 10;
        const ids = [apiKeyId(next + 1), apiKeyId(next + 2)];
        for (const id of ids) {
          unwrap(await keys.insert(anApiKey({ id, accountId: account }), () => ok(undefined)));
        }
        const active: SubmittingTask[] = [];
        const counted: { key: number; at: Date; cost: number; id: TaskId }[] = [];
        const end = async (task: SubmittingTask, succeeds: boolean) => {
          if (!succeeds) {
            unwrap(await tasks.move(task, fail(task, "refused", noon), undefined));
            counted.splice(
              counted.findIndex(({ id }) => id === task.id),
              1,
            );
            return;
          }
          const sent = submit(task, `u-${task.id}`, noon);
          unwrap(await tasks.move(task, sent, noon));
          unwrap(
            await tasks.move(
              sent,
              succeed(finish(sent, "https://p.example/x"), anImageName(1), aNativeSize, noon),
              noon,
            ),
          );
        };
        for (const event of steps) {
          if ("end" in event) {
            const [task] = active.splice(event.end % Math.max(1, active.length), 1);
            if (task !== undefined) await end(task, event.succeeds);
            continue;
          }
          if (active.length === 5) continue;
          const at = new Date(event.day);
          const spentIn = (length: number) =>
            counted
              .filter(
                (other) =>
                  other.key === event.key && other.at.toISOString().slice(0, length) === event.day.slice(0, length),
              )
              .reduce((sum, { cost }) => sum + cost, 0);
          const cost = { "1k": 4, "2k": 6, "4k": 10 }[event.resolution] ?? 0;
          const isWithin = spentIn(10) + cost <= 20 && spentIn(7) + cost <= 30;
          const task = aSubmittingTask({
            id: taskId(++lastTask),
            accountId: account,
            apiKeyId: ids[event.key - 1],
            reservedAt: at,
            request: aCreationRequest({ resolution: event.resolution }),
          });
          const opened = await tasks.open({
            account,
            dueAt: noon,
            decide: (standing, place, spending) =>
              openATask(standing, task, at, { turn: place?.turn, budget: spending && { budgets, spending } }),
            spender: { apiKeyId: ids[event.key - 1] as ApiKeyId, now: at },
          });
          expect(opened.isOk()).toBe(isWithin);
          if (opened.isErr()) continue;
          active.push(task);
          counted.push({ key: event.key, at, cost, id: task.id });
        }
        for (const task of active) await end(task, true);
      }),
      { ...ON_ONE_STORE, numRuns: 15 },
      options,
    );
  });
};
