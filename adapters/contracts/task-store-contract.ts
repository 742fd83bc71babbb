import fc from "fast-check";
import { err, ok, type Result } from "neverthrow";
import { deletedReplay } from "../../application/errors.js";
import type { AccountStore } from "../../application/ports/account-store.js";
import type { PublicPrompt, Spender, TaskStore } from "../../application/ports/task-store.js";
import type { Standing } from "../../domain/account.js";
import type { ApiKeyId } from "../../domain/api-key.js";
import type { Budgets } from "../../domain/budget.js";
import { credits } from "../../domain/credits.js";
import { NO_LIMITS } from "../../domain/key-limits.js";
import {
  addThumbnail,
  expire,
  failAttempt,
  giveUp,
  type KeptImage,
  keep,
  keepWithoutThumbnail,
  retry,
  type StoredImage,
  type UploadingImage,
} from "../../domain/storage-status.js";
import {
  fail,
  finish,
  type GeneratedTask,
  openTask,
  type ReservedTask,
  restartAge,
  type SubmittedTask,
  type SucceededTask,
  submit,
  succeed,
  type Task,
  withImage,
} from "../../domain/task.js";
import { matchesFilter } from "../../domain/task-filter.js";
import type { TaskId } from "../../domain/task-id.js";
import {
  aCreationRequest,
  accountId,
  aNativeSize,
  anAccount,
  anApiKey,
  anImageName,
  aPaidOrder,
  apiKeyId,
  aReservedTask,
  noon,
  orderId,
  secondsAfter,
  taskId,
} from "./builders.js";
import { expect } from "./expect.js";
import type { TaskStores } from "./stores.js";
import { setUpTasks } from "./task-setup.js";
import type { TestFunctions } from "./test-functions.js";

/**
 * What every TaskStore must do (application/ports/task-store.ts). The queue is a part of its own: task-queue-contract.ts.
 */
export const describeTaskStore = (
  { describe, it, beforeEach, afterEach }: TestFunctions,
  technology: string,
  makeStores: () => Promise<TaskStores>,
): void =>
  describe(`TaskStore ${technology}`, () => {
    const on = setUpTasks({ beforeEach, afterEach }, makeStores);
    const { owner, stranger, open, reserved, submitted, generated, succeeded, failed, standing, entries, keyed } = on;
    let stores: TaskStores;
    let tasks: TaskStore;
    let accounts: AccountStore;

    beforeEach(async () => {
      ({ stores } = on);
      ({ tasks, accounts } = stores);
    });

    describe("open", () => {
      it("stores the task, reserves its credits, takes a slot and adds a ledger entry", async () => {
        const task = aReservedTask();
        expect(await open(task)).toEqual(ok({ task, replayed: false }));
        expect(await tasks.find(task.id, owner)).toEqual(task);
        expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
        expect(await stores.ledger.entries(owner)).toEqual([
          { kind: "purchase", accountId: owner, orderId: orderId(1), credits: 100, at: noon },
          { kind: "reservation", accountId: owner, taskId: task.id, credits: -4, at: noon },
        ]);
      });

      it("passes the account's standing to the decision and returns its refusal", async () => {
        await reserved();
        let seen: Standing | undefined;
        const refused = await tasks.open({
          account: owner,
          dueAt: noon,
          idempotent: keyed("k"),
          decide: (current) => {
            seen = current;
            return err({ kind: "no" as const });
          },
        });
        expect(refused).toEqual(err({ kind: "no" }));
        expect(seen).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
      });

      it("stores neither task nor idempotency key of a refused creation", async () => {
        await tasks.open({ account: owner, dueAt: noon, idempotent: keyed("k"), decide: () => err("no") });
        expect(await standing()).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
        expect(await tasks.list(owner, 10, undefined)).toEqual([]);
        expect(await open(aReservedTask(), { idempotent: keyed("k", "b".repeat(64)) })).toEqual(
          ok({ task: aReservedTask(), replayed: false }),
        );
      });

      it("stores nothing if the decision throws", async () => {
        const opening = tasks.open({
          account: owner,
          dueAt: noon,
          idempotent: keyed("k"),
          decide: () => {
            throw new Error("a bug");
          },
        });
        await expect(opening).rejects.toThrow("a bug");
        expect(await standing()).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
        await reserved();
      });

      it("throws for an unknown account", async () => {
        await expect(open(aReservedTask({ accountId: stranger }))).rejects.toThrow(stranger);
      });

      it("admits five of fifty concurrent creations of one account", async () => {
        const openings = Array.from({ length: 50 }, (_, n) => open(aReservedTask({ id: taskId(n) })));
        const results = await Promise.all(openings);
        expect(results.filter((result) => result.isOk())).toHaveLength(5);
        expect(refusals(results)).toEqual(new Set(["too_many_active_tasks"]));
        expect(await standing()).toEqual({ accountId: owner, credits: 80, activeTasks: 5 });
      });

      it("admits of fifty concurrent creations only those that the credits pay for", async () => {
        await accounts.open(
          anAccount({ id: stranger }),
          undefined,
          aPaidOrder({ id: orderId(2), accountId: stranger, credits: credits(11) }),
          undefined,
        );
        const openings = Array.from({ length: 50 }, (_, n) =>
          open(aReservedTask({ id: taskId(n), accountId: stranger })),
        );
        const results = await Promise.all(openings);
        expect(results.filter((result) => result.isOk())).toHaveLength(2);
        expect(refusals(results)).toEqual(new Set(["insufficient_credits"]));
        expect(await standing(stranger)).toEqual({ accountId: stranger, credits: 3, activeTasks: 2 });
      });
    });

    describe("idempotency key", () => {
      it("returns the current task for a repeated request, without calling the decision", async () => {
        unwrap(await open(aReservedTask(), { idempotent: keyed("k") }));
        const next = submit(aReservedTask(), "upstream-1", noon);
        unwrap(await tasks.move(aReservedTask(), next, noon));
        const repeated = await tasks.open({
          account: owner,
          dueAt: noon,
          idempotent: keyed("k"),
          decide: () => {
            throw new Error("must not be called");
          },
        });
        expect(repeated).toEqual(ok({ task: next, replayed: true }));
        expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
      });

      it("is rejected with another request", async () => {
        unwrap(await open(aReservedTask(), { idempotent: keyed("k") }));
        const other = await open(aReservedTask({ id: taskId(2) }), { idempotent: keyed("k", "b".repeat(64)) });
        expect(other).toEqual(
          err({ kind: "invalid_request", field: "Idempotency-Key", rule: { name: "key_reused", hours: 24 } }),
        );
        expect(await tasks.find(taskId(2), owner)).toBeUndefined();
      });

      it("is separate per account", async () => {
        const order = aPaidOrder({ id: orderId(2), accountId: stranger });
        await accounts.open(anAccount({ id: stranger }), undefined, order, undefined);
        unwrap(await open(aReservedTask(), { idempotent: keyed("k") }));
        const theirs = aReservedTask({ id: taskId(2), accountId: stranger });
        expect(await open(theirs, { idempotent: keyed("k") })).toEqual(ok({ task: theirs, replayed: false }));
      });

      it("is not_found if its task was deleted, and still rejected with another request", async () => {
        const task = aReservedTask({ id: taskId(1), accountId: owner });
        unwrap(await open(task, { idempotent: keyed("k") }));
        const sent = submit(task, "upstream-1", noon);
        unwrap(await tasks.move(task, sent, noon));
        unwrap(await tasks.move(sent, failed(sent), undefined));
        unwrap(await tasks.hide(task.id, owner, noon));
        const repeated = aReservedTask({ id: taskId(2), accountId: owner });
        expect(await open(repeated, { idempotent: keyed("k") })).toEqual(err(deletedReplay(task.id)));
        const other = await open(repeated, { idempotent: keyed("k", "b".repeat(64)) });
        expect(other).toMatchObject(err({ kind: "invalid_request" }));
        expect(await standing()).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
      });

      it("opens one task for twenty concurrent calls", async () => {
        const openings = Array.from({ length: 20 }, (_, n) =>
          open(aReservedTask({ id: taskId(n) }), { idempotent: keyed("k") }),
        );
        const opened = (await Promise.all(openings)).map(unwrap);
        expect(new Set(opened.map(({ task }) => task.id)).size).toBe(1);
        expect(opened.filter(({ replayed }) => !replayed)).toHaveLength(1);
        expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
      });

      it("can be used again if its task was refused before its submission", async () => {
        unwrap(await open(aReservedTask(), { idempotent: keyed("k") }));
        unwrap(await tasks.move(aReservedTask(), failed(aReservedTask(), "refused"), undefined));
        const again = aReservedTask({ id: taskId(2) });
        expect(await open(again, { idempotent: keyed("k") })).toEqual(ok({ task: again, replayed: false }));
      });

      it("still returns a task that failed after its submission", async () => {
        unwrap(await open(aReservedTask(), { idempotent: keyed("k") }));
        const accepted = submit(aReservedTask(), "upstream-1", noon);
        unwrap(await tasks.move(aReservedTask(), accepted, noon));
        unwrap(await tasks.move(accepted, failed(accepted), undefined));
        expect(await open(aReservedTask({ id: taskId(2) }), { idempotent: keyed("k") })).toEqual(
          ok({ task: failed(accepted), replayed: true }),
        );
      });

      it("is deleted if it was first used before the given time, and kept otherwise", async () => {
        unwrap(await open(aReservedTask({ reservedAt: noon }), { idempotent: keyed("k") }));
        await tasks.forgetIdempotencyKeys(noon);
        expect(unwrap(await open(aReservedTask(), { idempotent: keyed("k") })).replayed).toBe(true);
        await tasks.forgetIdempotencyKeys(secondsAfter(noon, 0.001));
        const again = aReservedTask({ id: taskId(2) });
        expect(await open(again, { idempotent: keyed("k") })).toEqual(ok({ task: again, replayed: false }));
      });
    });

    describe("budget of a key", () => {
      const budgets: Budgets = { creditsPerDay: credits(20), creditsPerMonth: credits(30) };

      beforeEach(async () => {
        for (const n of [1, 2]) {
          (
            await stores.keys.insert(
              anApiKey({ id: apiKeyId(n), accountId: owner, limits: { ...NO_LIMITS, ...budgets } }),
              () => ok(undefined),
            )
          )._unsafeUnwrap();
        }
      });

      /** Opens the n-th task with a key as a creation does, within its budgets. */
      const spend = (n: number, { key = 1, at = noon, within = budgets, resolution = "1k" } = {}) => {
        const request = aCreationRequest({ resolution });
        const id = apiKeyId(key);
        const task = aReservedTask({ id: taskId(n), accountId: owner, request, apiKeyId: id, reservedAt: at });
        const spender = { apiKeyId: id, now: at };
        return tasks.open({
          account: owner,
          dueAt: at,
          decide: (standing, place, spending) =>
            openTask(standing, task, at, place?.turn, spending && { budgets: within, spending }),
          spender,
        });
      };
      const failNow = async (opened: Awaited<ReturnType<typeof spend>>) => {
        const task = unwrap(opened).task as ReservedTask;
        unwrap(await tasks.move(task, fail(task, "refused", noon), undefined));
      };

      it("keeps the key of a task through every state", async () => {
        const { task } = unwrap(await spend(1));
        expect(task.apiKeyId).toBe(apiKeyId(1));
        const one = submit(task as ReservedTask, "upstream-1", noon);
        unwrap(await tasks.move(task, one, noon));
        expect(await tasks.find(one.id, owner)).toEqual(one);
        const two = succeed(finish(one, "https://p.example/1"), anImageName(1), aNativeSize, noon);
        unwrap(await tasks.move(one, two, noon));
        expect((await tasks.find(one.id, owner))?.apiKeyId).toBe(apiKeyId(1));
        await failNow(await spend(2));
        expect((await tasks.find(taskId(2), owner))?.apiKeyId).toBe(apiKeyId(1));
      });

      it("passes what the key has spent to the decision, only with a spender", async () => {
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

      it("gives the credits back once, however often the refund is tried at the same time", async () => {
        const opened = unwrap(await spend(1)).task as ReservedTask;
        const refund = fail(opened, "refused", noon);
        await Promise.all(Array.from({ length: 10 }, () => tasks.move(opened, refund, undefined)));
        unwrap(await spend(2));
        const spent = await stores.keys.spending(owner, noon);
        expect(spent.get(apiKeyId(1))).toEqual({ today: 4, thisMonth: 4 });
      });

      it("admits of fifty concurrent creations exactly those that the budget pays for, while some are refunded", async () => {
        const results = await Promise.all(Array.from({ length: 50 }, (_, n) => spend(n)));
        const opened = results.filter((result) => result.isOk());
        expect(opened).toHaveLength(5); // 20 credits of the day, also the account's five slots
        for (const result of opened.slice(0, 3)) await failNow(result);
        const again = await Promise.all(
          Array.from({ length: 50 }, (_, n) => spend(100 + n, { within: { ...budgets, creditsPerDay: credits(19) } })),
        );
        expect(again.filter((result) => result.isOk())).toHaveLength(2); // 8 are spent, 16 with two more
        const kinds = new Set(
          again.flatMap((result) => (result.isErr() ? [(result.error as { kind: string }).kind] : [])),
        );
        expect([...kinds]).toEqual(["budget_spent"]);
        expect((await stores.keys.spending(owner, noon)).get(apiKeyId(1))).toEqual({ today: 16, thisMonth: 16 });
      });

      it("is kept to its definition, whatever is created, refunded and ended in any order", async () => {
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
        const { id: account } = anAccount({ id: stranger });
        await accounts.open(
          anAccount({ id: account }),
          undefined,
          aPaidOrder({ id: orderId(9), accountId: account, credits: credits(100_000) }),
          undefined,
        );
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 40, size: "max" }), async (steps) => {
            next += 10;
            const keys = [apiKeyId(next + 1), apiKeyId(next + 2)];
            for (const id of keys) {
              (await stores.keys.insert(anApiKey({ id, accountId: account }), () => ok(undefined)))._unsafeUnwrap();
            }
            const active: ReservedTask[] = [];
            const counted: { key: number; at: Date; cost: number; id: TaskId }[] = [];
            const end = async (task: ReservedTask, succeeds: boolean) => {
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
              const task = aReservedTask({
                id: taskId(++lastTask),
                accountId: account,
                apiKeyId: keys[event.key - 1],
                reservedAt: at,
                request: aCreationRequest({ resolution: event.resolution }),
              });
              const opened = await tasks.open({
                account,
                dueAt: noon,
                decide: (standing, place, spending) =>
                  openTask(standing, task, at, place?.turn, spending && { budgets, spending }),
                spender: { apiKeyId: keys[event.key - 1] as ApiKeyId, now: at },
              });
              expect(opened.isOk()).toBe(isWithin);
              if (opened.isErr()) continue;
              active.push(task);
              counted.push({ key: event.key, at, cost, id: task.id });
            }
            for (const task of active) await end(task, true);
          }),
          { numRuns: 15 },
        );
      });
    });

    describe("find", () => {
      it("returns every kind of text unchanged", async () => {
        let n = 100;
        const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.stringMatching(/^[?'"`\\\n\r\t%_$:;{}🌄é-]*$/u));
        await fc.assert(
          fc.asyncProperty(text, text, text, async (prompt, path, upstreamTaskId) => {
            n += 1;
            const url = `https://example.com/${encodeURIComponent(path)}?'"\\&a=?`;
            const request = aCreationRequest({ prompt: `a ${storable(prompt)} b`, image_urls: [url, url] });
            const task = aReservedTask({ id: taskId(n), request });
            unwrap(await open(task, { idempotent: keyed(`k?'"\\${n}`) }));
            expect(await tasks.find(task.id, owner)).toEqual(task);
            const next = submit(task, storable(upstreamTaskId), noon);
            unwrap(await tasks.move(task, next, undefined));
            expect(await tasks.find(task.id, owner)).toEqual(next);
            unwrap(await tasks.move(next, failed(next), undefined));
          }),
          { numRuns: 60 },
        );
      });

      it("returns a task without a prompt", async () => {
        const request = aCreationRequest({
          prompt: undefined,
          image_urls: ["https://example.com/a.png"],
          visibility: "public",
          resolution: "4k",
        });
        const task = aReservedTask({ request, reservedAt: new Date("2026-02-03T04:05:06.789Z") });
        unwrap(await open(task));
        expect(await tasks.find(task.id, owner)).toEqual(task);
      });

      it("returns seed and metadata unchanged, in every state", async () => {
        const metadata = Object.fromEntries(
          Array.from({ length: 16 }, (_, n) => ["🌊".repeat(38) + String(n).padStart(2), "🌊".repeat(500)]),
        );
        const request = aCreationRequest({ seed: 2147483647, metadata });
        const task = aReservedTask({ request });
        unwrap(await open(task, { idempotent: keyed("k") }));
        expect(await tasks.find(task.id, owner)).toEqual(task);
        const again = unwrap(await open(aReservedTask({ id: taskId(2), request }), { idempotent: keyed("k") }));
        expect(again).toEqual({ task, replayed: true });
        const other = aReservedTask({ id: taskId(3), request: aCreationRequest({ seed: 0, metadata: { a: "" } }) });
        unwrap(await open(other));
        const next = submit(other, "upstream-3", noon);
        unwrap(await tasks.move(other, next, noon));
        expect(await tasks.find(other.id, owner)).toEqual(next);
      });

      it("returns undefined for unknown ids and for tasks of other accounts", async () => {
        const { id } = await reserved();
        expect(await tasks.find(id, stranger)).toBeUndefined();
        expect(await tasks.find(taskId(99), owner)).toBeUndefined();
      });

      it("findBySlug finds the task of any account", async () => {
        const task = await reserved();
        expect(await tasks.findBySlug(task.slug)).toEqual(task);
        expect(await tasks.findBySlug("0000000000000000" as Task["slug"])).toBeUndefined();
      });
    });

    describe("list", () => {
      it("returns the account's own tasks, newest first, in pages", async () => {
        const order = aPaidOrder({ id: orderId(2), accountId: stranger });
        await accounts.open(anAccount({ id: stranger }), undefined, order, undefined);
        unwrap(await open(aReservedTask({ id: taskId(9), accountId: stranger })));
        for (const n of [3, 1, 5, 2, 4]) await reserved(n);
        const ids = async (limit: number, before?: number) =>
          (await tasks.list(owner, limit, before === undefined ? undefined : taskId(before))).map(({ id }) => id);
        expect(await ids(2)).toEqual([taskId(5), taskId(4)]);
        expect(await ids(2, 4)).toEqual([taskId(3), taskId(2)]);
        expect(await ids(2, 2)).toEqual([taskId(1)]);
        expect(await ids(2, 1)).toEqual([]);
        expect(await ids(9, 99)).toHaveLength(5); // a task that never existed
      });

      it("returns the other end of the list first, on request", async () => {
        for (const n of [3, 1, 5, 2, 4]) await reserved(n);
        const oldest = async (limit: number, after?: TaskId) =>
          (await tasks.list(owner, limit, after, undefined, "oldest")).map(({ id }) => id);
        expect(await oldest(2)).toEqual([taskId(1), taskId(2)]);
        expect(await oldest(2, taskId(2))).toEqual([taskId(3), taskId(4)]);
        expect(await oldest(2, taskId(4))).toEqual([taskId(5)]);
        expect(await oldest(2, taskId(5))).toEqual([]);
        expect(await tasks.list(stranger, 2, undefined, {}, "oldest")).toEqual([]);
      });

      it("returns the tasks that match any filter, as the domain defines it, on pages of any size", async () => {
        const time = fc.integer({ min: 0, max: 3 }).map((minutes) => secondsAfter(noon, 60 * minutes));
        const pairs = fc.dictionary(fc.constantFrom("order", "__proto__", "a'?"), fc.constantFrom("1", "2", "%_"));
        const visibility = fc.constantFrom("private" as const, "public" as const);
        const stored = fc.record({
          end: fc.constantFrom("reserved", "submitted", "generated", "succeeded", "failed", "hidden"),
          reservedAt: time,
          visibility,
          metadata: pairs,
        });
        const filter = fc.record(
          {
            status: fc.constantFrom("processing" as const, "succeeded" as const, "failed" as const),
            visibility,
            createdAfter: time,
            createdBefore: time,
            metadata: pairs,
          },
          { requiredKeys: [] },
        );
        // Other tests have an account of 100 credits and five slots.
        const rich = accountId(7);
        const order = aPaidOrder({ id: orderId(7), accountId: rich, credits: credits(1_000_000) });
        await accounts.open(anAccount({ id: rich }), undefined, order, undefined);
        let n = 1000;
        await fc.assert(
          fc.asyncProperty(
            fc.array(stored, { maxLength: 6 }),
            fc.array(filter, { minLength: 3, maxLength: 6 }),
            fc.integer({ min: 1, max: 4 }),
            async (given, filters, limit) => {
              for (const { end, reservedAt, ...body } of given) {
                n += 1;
                const task = aReservedTask({
                  id: taskId(n),
                  accountId: rich,
                  reservedAt,
                  request: aCreationRequest(body),
                });
                // Slots are not what this test is about.
                const opened = await tasks.open({
                  account: rich,
                  dueAt: noon,
                  decide: (standing) =>
                    openTask({ ...standing, activeTasks: 0 }, task, reservedAt).map(({ task, standing: after }) => ({
                      task,
                      standing: { ...after, activeTasks: standing.activeTasks + 1 },
                    })),
                });
                unwrap(opened);
                if (end === "reserved") continue;
                if (end === "failed") {
                  unwrap(await tasks.move(task, failed(task), undefined));
                  continue;
                }
                const next = submit(task, "upstream", noon);
                unwrap(await tasks.move(task, next, noon));
                if (end === "submitted") continue;
                const generated = finish(next, "https://p.example/1");
                unwrap(await tasks.move(next, generated, noon));
                if (end === "generated") continue;
                unwrap(await tasks.move(generated, succeed(generated, anImageName(n), aNativeSize, noon), noon));
                if (end === "hidden") unwrap(await tasks.hide(task.id, rich, noon));
              }
              const all = await tasks.list(rich, 100_000, undefined);
              for (const filter of filters) {
                const found: Task[] = [];
                for (
                  let before: TaskId | undefined, page: Task[] = [];
                  before === undefined || page.length === limit;
                  before = page.at(-1)?.id
                ) {
                  page = await tasks.list(rich, limit, before, filter);
                  found.push(...page);
                  if (page.length === 0) break;
                }
                expect(found).toEqual(all.filter((task) => matchesFilter(task, filter)));
                const oldest = await tasks.list(rich, 100_000, undefined, filter, "oldest");
                expect(oldest).toEqual(found.toReversed());
              }
            },
          ),
          { numRuns: 12 },
        );
        expect(await tasks.list(owner, 9, undefined, {})).toEqual([]);
      });
    });

    describe("move", () => {
      it("stores a submission and changes neither credits nor slots", async () => {
        const task = await submitted();
        expect(await tasks.find(task.id, owner)).toEqual(task);
        expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
      });

      it("stores a success, frees the slot and keeps the credits spent", async () => {
        const task = await succeeded();
        expect(await tasks.find(task.id, owner)).toEqual(task);
        expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 0 });
        expect(await entries()).toEqual(["purchase 100", "reservation -4"]);
      });

      for (const [state, make] of [
        ["reserved", () => reserved()],
        ["submitted", () => submitted()],
        ["generated", () => generated()],
      ] as const) {
        it(`refunds a ${state} task that fails and frees its slot`, async () => {
          const task = await make();
          const next = failed(task);
          unwrap(await tasks.move(task, next, undefined));
          expect(await tasks.find(next.id, owner)).toEqual(next);
          expect(await standing()).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
          expect(await entries()).toEqual(["purchase 100", "reservation -4", "refund 4"]);
        });
      }

      it("stores a generated task with its temporary URL, which stays active", async () => {
        const task = await generated();
        expect(await tasks.find(task.id, owner)).toEqual(task);
        expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
        const restarted = restartAge(task, secondsAfter(noon, 600));
        unwrap(await tasks.move(task, restarted, noon));
        expect(await tasks.find(task.id, owner)).toEqual(restarted);
      });

      it("stores the native size of a result, and reads a task without one", async () => {
        const task = await succeeded();
        expect(await tasks.find(task.id, owner)).toEqual({ ...task, nativeSize: aNativeSize });
        const older = { ...task, nativeSize: undefined };
        unwrap(await tasks.move(task, older, noon));
        expect(await tasks.find(task.id, owner)).toStrictEqual(older);
      });

      it("stores every transition of the image's status", async () => {
        let task = await succeeded();
        const image = task.image as UploadingImage;
        const images: readonly StoredImage[] = [
          failAttempt(image),
          giveUp(image),
          unwrap(retry(giveUp(image))),
          failAttempt(image),
          keepWithoutThumbnail(image),
          addThumbnail(keepWithoutThumbnail(image)),
        ];
        for (const image of images) {
          const next = withImage(task, image);
          unwrap(await tasks.move(task, next, undefined));
          expect(await tasks.find(task.id, owner)).toEqual(next);
          task = next;
        }
      });

      it("stores the expiry of a kept image, and keeps the credits spent", async () => {
        const task = await succeeded();
        const saved = keep(task.image as UploadingImage);
        unwrap(await tasks.move(task, withImage(task, saved), undefined));
        const expired = withImage(task, expire(saved));
        unwrap(await tasks.move(withImage(task, saved), expired, noon));
        expect(await tasks.find(task.id, owner)).toEqual(expired);
        expect(await tasks.move(withImage(task, saved), expired, noon)).toEqual(
          err({ kind: "stale_task", id: task.id }),
        );
        expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 0 });
      });

      for (const [status, end] of [
        ["saved", keep],
        ["expired", expire],
      ] as const) {
        it(`stores the final image status ${status}`, async () => {
          const task = await succeeded();
          const next = withImage(task, end(task.image as UploadingImage));
          unwrap(await tasks.move(task, next, undefined));
          expect(await tasks.find(task.id, owner)).toEqual(next);
        });
      }

      it("rejects a stale write with stale_task if the task has left the state", async () => {
        const before = await reserved();
        const next = submit(before, "upstream-1", noon);
        unwrap(await tasks.move(before, next, noon));
        const stale = err({ kind: "stale_task", id: before.id });
        expect(await tasks.move(before, failed(before), undefined)).toEqual(stale);
        expect(await tasks.move(before, submit(before, "upstream-2", noon), noon)).toEqual(stale);
        expect(await tasks.find(before.id, owner)).toEqual(next);
        expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
      });

      it("rejects a stale write with stale_task if the image has left the storage status", async () => {
        const before = await succeeded();
        const saved = withImage(before, keep(before.image as UploadingImage));
        unwrap(await tasks.move(before, saved, undefined));
        const late = await tasks.move(before, withImage(before, expire(before.image as UploadingImage)), undefined);
        expect(late).toEqual(err({ kind: "stale_task", id: before.id }));
        expect(await tasks.find(before.id, owner)).toEqual(saved);
      });

      it("returns stale_task for an unknown task", async () => {
        const unknown = aReservedTask({ id: taskId(99) });
        expect(await tasks.move(unknown, failed(unknown), undefined)).toEqual(
          err({ kind: "stale_task", id: unknown.id }),
        );
      });

      it("applies one of twenty concurrent moves, so that a refund happens at most once", async () => {
        const task = await generated();
        const success = succeed(task, anImageName(), aNativeSize, noon);
        const moves = Array.from({ length: 20 }, (_, n) =>
          tasks.move(task, n % 2 === 0 ? failed(task) : success, undefined),
        );
        const won = (await Promise.all(moves)).filter((result) => result.isOk());
        expect(won).toHaveLength(1);
        const current = await tasks.find(task.id, owner);
        expect(await standing()).toEqual({
          accountId: owner,
          credits: current?.state === "failed" ? 100 : 96,
          activeTasks: 0,
        });
      });

      it("keeps credits and slots correct when five tasks of one account end concurrently", async () => {
        const active: GeneratedTask[] = [];
        for (const n of [1, 2, 3, 4, 5]) active.push(await generated(n));
        await Promise.all(
          active.map(async (task, n) =>
            unwrap(
              await tasks.move(
                task,
                n < 3 ? failed(task) : succeed(task, anImageName(n), aNativeSize, noon),
                undefined,
              ),
            ),
          ),
        );
        expect(await standing()).toEqual({ accountId: owner, credits: 92, activeTasks: 0 });
      });
    });

    describe("changes by the owner", () => {
      const kept = async (n: number): Promise<SucceededTask> => {
        const task = await succeeded(n);
        const next = withImage(task, keep(task.image as UploadingImage));
        unwrap(await tasks.move(task, next, undefined));
        return next;
      };
      const publish = async (task: Task) => unwrap(await tasks.setVisibility(task.id, owner, "public"));
      const rich = accountId(7);
      const gallery = async (limit = 10, before?: TaskId) =>
        (await tasks.listPublic(limit, before)).map(({ id }) => id);

      it("listPublic returns public panoramas with a stored image, newest first, in pages", async () => {
        for (const n of [1, 2, 3]) await publish(await kept(n));
        await kept(4); // private
        await publish(await succeeded(5)); // not kept yet
        expect(await gallery()).toEqual([taskId(3), taskId(2), taskId(1)]);
        expect(await gallery(2)).toEqual([taskId(3), taskId(2)]);
        expect(await gallery(2, taskId(2))).toEqual([taskId(1)]);
        expect((await tasks.listPublic(1, undefined))[0]?.request.visibility).toBe("public");
        const newer = await tasks.listPublic(1, taskId(1), "oldest");
        expect(newer.map(({ id }) => id)).toEqual([taskId(2)]);
      });

      it("listPublicPrompts and findPublic have the tasks of listPublic, and no others", async () => {
        const stored = fc.record({
          // Characters, not UTF-16 units: an emoji is one.
          prompt: fc.constantFrom("a lake", "ein 'See' 🌊", "🌊".repeat(4000), `${"🌊".repeat(3_999)}ab`, undefined),
          visibility: fc.constantFrom("public", "public", "private"),
          end: fc.constantFrom("kept", "kept", "hidden", "expired", "uploading", "reserved"),
        });
        const order = aPaidOrder({ id: orderId(7), accountId: rich, credits: credits(1_000) });
        await accounts.open(anAccount({ id: rich }), undefined, order, undefined);
        let n = 0;
        await fc.assert(
          fc.asyncProperty(
            fc.array(stored, { minLength: 5, maxLength: 8 }),
            fc.integer({ min: 1, max: 4 }),
            async (given, limit) => {
              for (const { prompt, visibility, end } of given) {
                n += 1;
                const parsed = aCreationRequest({ visibility, image_urls: ["https://pictures.example/1.png"] });
                // Earlier versions stored longer prompts.
                const request = { ...parsed, prompt };
                const task = aReservedTask({ id: taskId(n), accountId: rich, request });
                unwrap(
                  await tasks.open({
                    account: rich,
                    dueAt: noon,
                    decide: (before) =>
                      ok({
                        task,
                        standing: {
                          ...before,
                          credits: credits(before.credits - 4),
                          activeTasks: before.activeTasks + 1,
                        },
                      }),
                  }),
                );
                if (end === "reserved") continue;
                const sent = submit(task, "upstream", noon);
                unwrap(await tasks.move(task, sent, noon));
                const done = finish(sent, "https://p.example/1");
                unwrap(await tasks.move(sent, done, noon));
                const ended = succeed(done, anImageName(n), aNativeSize, noon);
                unwrap(await tasks.move(done, ended, noon));
                if (end === "uploading") continue;
                const next = (end === "expired" ? expire : keep)(ended.image as UploadingImage);
                unwrap(await tasks.move(ended, withImage(ended, next), undefined));
                if (end === "hidden") unwrap(await tasks.hide(task.id, rich, noon));
              }
              for (const first of ["newest", "oldest"] as const) {
                const shown = await tasks.listPublic(1000, undefined, first);
                const found: PublicPrompt[] = [];
                for (let page: PublicPrompt[] | undefined; page === undefined || page.length === limit; ) {
                  page = await tasks.listPublicPrompts(limit, found.at(-1)?.id, first);
                  found.push(...page);
                }
                const firstCharacters = (text: string) => [...text].slice(0, 4000).join("");
                expect(found).toEqual(
                  shown.map(({ id, request: { prompt = "" } }) => ({ id, prompt: firstCharacters(prompt) })),
                );
                const all = await tasks.findPublic(Array.from({ length: n + 2 }, (_, m) => taskId(m)));
                expect(all.sort((a, b) => (a.id < b.id === (first === "oldest") ? -1 : 1))).toEqual(shown);
              }
            },
          ),
          { numRuns: 4 },
        );
        expect(await tasks.findPublic([])).toEqual([]);
      });

      it("setVisibility changes the task, also while background work moves it", async () => {
        const task = await generated(1);
        await publish(task);
        unwrap(await tasks.move(task, succeed(task, anImageName(), aNativeSize, noon), noon));
        expect((await tasks.find(task.id, owner))?.request.visibility).toBe("public");
        unwrap(await tasks.setVisibility(task.id, owner, "private"));
        expect((await tasks.find(task.id, owner))?.request.visibility).toBe("private");
      });

      it("hide removes the task from every read except the ledger", async () => {
        const task = await kept(1);
        await publish(task);
        unwrap(await tasks.hide(task.id, owner, noon));
        expect(await tasks.find(task.id, owner)).toBeUndefined();
        expect(await tasks.findBySlug(task.slug)).toBeUndefined();
        expect(await tasks.list(owner, 10, undefined)).toEqual([]);
        expect(await gallery()).toEqual([]);
        for await (const account of stores.ledger.all()) expect(account.tasks.map(({ id }) => id)).toEqual([task.id]);
      });

      it("isHidden is true only for the owner's hidden tasks", async () => {
        const task = await kept(1);
        expect(await tasks.isHidden(task.id, owner)).toBe(false);
        unwrap(await tasks.hide(task.id, owner, noon));
        expect(await tasks.isHidden(task.id, owner)).toBe(true);
        expect(await tasks.isHidden(task.id, stranger)).toBe(false);
        expect(await tasks.isHidden(taskId(99), owner)).toBe(false);
      });

      it("hide makes the lease of a worker stale and ends the background work", async () => {
        await succeeded(1);
        const [lease] = await tasks.claim("keep", secondsAfter(noon, 3600), secondsAfter(noon, 7200), 1);
        unwrap(await tasks.hide(taskId(1), owner, noon));
        const { task } = lease!;
        const moved = await tasks.move(lease!, withImage(task, keep(task.image as UploadingImage)), noon);
        expect(moved).toEqual(err({ kind: "stale_task", id: task.id }));
        expect(await tasks.claim("keep", secondsAfter(noon, 9999), secondsAfter(noon, 9999), 1)).toEqual([]);
      });

      it("a hidden task is due for erase now, or when the lease of a worker expires, until move ends it", async () => {
        const idle = await kept(1);
        const leased = await succeeded(2);
        await tasks.claim("keep", noon, secondsAfter(noon, 60), 1);
        const overdue = await succeeded(3);
        await kept(4); // not hidden
        for (const task of [idle, leased, overdue]) unwrap(await tasks.hide(task.id, owner, noon));

        const erase = async (seconds: number) => {
          const at = secondsAfter(noon, seconds);
          return tasks.claim("erase", at, secondsAfter(at, 1_000), 9);
        };
        const first = await erase(0);
        expect(first.map(({ task }) => task).sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([idle, overdue]);
        expect(await erase(59)).toEqual([]);
        expect((await erase(60)).map(({ task }) => task)).toEqual([leased]);
        for (const lease of first) unwrap(await tasks.move(lease, lease.task, undefined));
        expect((await erase(9_999)).map(({ task }) => task)).toEqual([leased]);
      });

      it("a hidden task that has not succeeded is not due for erase", async () => {
        const task = await submitted(1);
        unwrap(await tasks.hide(task.id, owner, noon));
        for (const work of ["settle", "erase"] as const) {
          expect(await tasks.claim(work, secondsAfter(noon, 9999), secondsAfter(noon, 9999), 1)).toEqual([]);
        }
      });

      it("listFailedImages returns the tasks with a failed image, newest first, page by page", async () => {
        const statuses = [giveUp, giveUp, keep, expire, giveUp, failAttempt, giveUp];
        for (const [n, change] of statuses.entries()) {
          const task = await succeeded(n);
          unwrap(await tasks.move(task, withImage(task, change(task.image as UploadingImage)), undefined));
        }
        unwrap(await tasks.hide(taskId(1), owner, noon));
        const page = async (limit: number, before?: TaskId) =>
          (await tasks.listFailedImages(limit, before)).map(({ id }) => id);
        expect(await page(2)).toEqual([taskId(6), taskId(4)]);
        expect(await page(2, taskId(4))).toEqual([taskId(0)]);
        expect(await page(2, taskId(0))).toEqual([]);
      });

      it("listKeptImages returns the kept images of tasks that succeeded before a time, oldest first", async () => {
        for (const [n, change] of [keep, keepWithoutThumbnail, giveUp, expire, failAttempt, keep, keep].entries()) {
          const task = { ...(await succeeded(n)), succeededAt: secondsAfter(noon, 10 - n) };
          unwrap(await tasks.move(task, withImage(task, change(task.image as UploadingImage)), undefined));
        }
        unwrap(await tasks.hide(taskId(6), owner, noon));
        const oldest = async (seconds: number, limit: number) =>
          (await tasks.listKeptImages(secondsAfter(noon, seconds), limit)).map(({ id }) => id);
        expect(await oldest(11, 9)).toEqual([taskId(5), taskId(1), taskId(0)]);
        expect(await oldest(11, 2)).toEqual([taskId(5), taskId(1)]);
        expect(await oldest(9, 9)).toEqual([taskId(5)]);
      });

      it("a task whose image has expired is due for erase, and not for keep", async () => {
        const task = await kept(1);
        const expired = withImage(task, expire(task.image as KeptImage));
        unwrap(await tasks.move(task, expired, noon));
        expect(await tasks.claim("keep", noon, noon, 9)).toEqual([]);
        expect((await tasks.claim("erase", noon, secondsAfter(noon, 1), 9)).map(({ task }) => task)).toEqual([expired]);
      });

      it("setVisibility and hide return not_found for other accounts and for hidden tasks", async () => {
        const { id } = await kept(1);
        const isNotFound = { error: { kind: "not_found" } };
        expect(await tasks.setVisibility(id, stranger, "public")).toMatchObject(isNotFound);
        expect(await tasks.hide(id, stranger, noon)).toMatchObject(isNotFound);
        unwrap(await tasks.hide(id, owner, noon));
        expect(await tasks.setVisibility(id, owner, "public")).toMatchObject(isNotFound);
        expect(await tasks.hide(id, owner, noon)).toMatchObject(isNotFound);
      });
    });

    describe("claim", () => {
      const soon = secondsAfter(noon, 30);

      it("returns the tasks in the state of each kind of work", async () => {
        const a = await reserved(1);
        const b = await submitted(2);
        const c = await succeeded(3);
        expect(await tasks.claim("sweep", noon, soon, 9)).toEqual([{ task: a, fence: 1 }]);
        expect(await tasks.claim("settle", noon, soon, 9)).toEqual([{ task: b, fence: 1 }]);
        expect(await tasks.claim("keep", noon, soon, 9)).toEqual([{ task: c, fence: 1 }]);
      });

      it("returns no task that is not due or needs no work", async () => {
        await submitted(1, secondsAfter(noon, 1));
        const done = await succeeded(2);
        unwrap(await tasks.move(done, done, undefined));
        const task = await submitted(3);
        unwrap(await tasks.move(task, failed(task), undefined));
        for (const work of ["sweep", "settle", "keep"] as const) {
          expect(await tasks.claim(work, secondsAfter(noon, 0.999), soon, 9)).toEqual([]);
        }
        expect(await tasks.claim("settle", secondsAfter(noon, 1), soon, 9)).toHaveLength(1);
      });

      it("returns the longest overdue tasks first, at most the limit", async () => {
        for (const [n, seconds] of [3, 1, 5, 2].entries()) await submitted(n, secondsAfter(noon, seconds));
        const claimed = await tasks.claim("settle", secondsAfter(noon, 9), secondsAfter(noon, 60), 2);
        expect(claimed.map(({ task }) => task.id).sort()).toEqual([taskId(1), taskId(3)]);
      });

      it("returns each task to one of eight concurrent callers", async () => {
        for (const n of [1, 2, 3, 4, 5]) await submitted(n);
        const claims = Array.from({ length: 8 }, () => tasks.claim("settle", noon, soon, 2));
        const ids = (await Promise.all(claims)).flat().map(({ task }) => task.id);
        expect(ids.sort()).toEqual([1, 2, 3, 4, 5].map(taskId));
      });

      it("returns a task again when its lease has expired, and rejects writes with the old lease", async () => {
        const task = await submitted();
        const [first] = await tasks.claim("settle", noon, soon, 1);
        expect(await tasks.claim("settle", secondsAfter(noon, 29), secondsAfter(noon, 59), 1)).toEqual([]);
        const [second] = await tasks.claim("settle", soon, secondsAfter(soon, 30), 1);
        expect(second).toEqual({ task, fence: 2 });
        expect(await tasks.move(first!, task, noon)).toEqual(err({ kind: "stale_task", id: task.id }));
        expect(await tasks.move(first!, failed(task), undefined)).toEqual(err({ kind: "stale_task", id: task.id }));
        expect(await tasks.move(second!, failed(task), undefined)).toEqual(ok(undefined));
        expect(await standing()).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
      });

      it("returns a leased task again when the due time set by move is reached", async () => {
        const task = await submitted();
        const [lease] = await tasks.claim("settle", noon, soon, 1);
        unwrap(await tasks.move(lease!, task, secondsAfter(noon, 2)));
        expect(await tasks.claim("settle", secondsAfter(noon, 1), soon, 1)).toEqual([]);
        expect(await tasks.claim("settle", secondsAfter(noon, 2), soon, 1)).toEqual([{ task, fence: 2 }]);
      });

      it("leases a submitted task that is not due, makes earlier leases stale, and is due again afterwards", async () => {
        const task = await submitted(1);
        const [earlier] = await tasks.claim("settle", noon, soon, 1);
        const until = secondsAfter(noon, 60);
        const lease = unwrap(await tasks.lease(task, until));
        expect(lease).toEqual({ task, fence: 2 });
        expect(await tasks.move(earlier!, failed(task), undefined)).toEqual(err({ kind: "stale_task", id: task.id }));
        await tasks.postpone([{ lease: earlier!, dueAt: noon }]);
        expect(await tasks.claim("settle", secondsAfter(noon, 59), until, 9)).toEqual([]);
        await tasks.postpone([{ lease, dueAt: secondsAfter(noon, 30) }]);
        expect(await tasks.claim("settle", secondsAfter(noon, 30), until, 9)).toEqual([{ task, fence: 3 }]);
      });

      it("leases no task that has left the state, and no hidden one", async () => {
        const [ended, hidden] = [await submitted(1), await submitted(2)];
        unwrap(await tasks.move(ended, failed(ended), undefined));
        unwrap(await tasks.hide(hidden.id, owner, noon));
        for (const task of [ended, hidden]) {
          expect(await tasks.lease(task, soon)).toEqual(err({ kind: "stale_task", id: task.id }));
        }
        expect(await tasks.claim("settle", soon, soon, 9)).toEqual([]);
      });

      it("returns a task immediately after makeDueNow, but only once", async () => {
        const task = await submitted(1, secondsAfter(noon, 30));
        await tasks.makeDueNow(task.id, noon);
        await tasks.makeDueNow(task.id, noon);
        expect(await tasks.claim("settle", noon, soon, 9)).toEqual([{ task, fence: 1 }]);
        expect(await tasks.claim("settle", noon, soon, 9)).toEqual([]);
      });

      it("keeps a lease valid after makeDueNow until another worker claims the task", async () => {
        const task = await submitted();
        const [first] = await tasks.claim("settle", noon, soon, 1);
        await tasks.makeDueNow(task.id, secondsAfter(noon, 1));
        expect(await tasks.move(first!, task, secondsAfter(noon, 9))).toEqual(ok(undefined));
        await tasks.makeDueNow(task.id, secondsAfter(noon, 2));
        const [second] = await tasks.claim("settle", secondsAfter(noon, 2), soon, 1);
        expect(second?.fence).toBe(2);
        expect(await tasks.move(first!, failed(task), undefined)).toEqual(err({ kind: "stale_task", id: task.id }));
      });

      it("ended returns those of many tasks of all accounts that are no longer active", async () => {
        const active = [await reserved(1), await submitted(2)];
        const ended = [await succeeded(3), await submitted(4)];
        unwrap(await tasks.move(ended[1]!, failed(ended[1] as SubmittedTask), undefined));
        await succeeded(5); // not asked for
        const unknown = Array.from({ length: 3000 }, (_, n) => taskId(1000 + n));
        const asked = [...unknown, ...active.map(({ id }) => id), ...ended.map(({ id }) => id)];
        expect((await tasks.ended(asked)).sort()).toEqual([3, 4].map(taskId));
        expect(await tasks.ended(active.map(({ id }) => id))).toEqual([]);
        expect(await tasks.ended([])).toEqual([]);
      });

      it("makeDueNow delays no poll and ignores tasks that are not polled", async () => {
        await submitted(1);
        await tasks.makeDueNow(taskId(1), secondsAfter(noon, 5));
        const waiting = await reserved(2, soon);
        const done = await succeeded(3);
        unwrap(await tasks.move(done, done, soon));
        const hidden = await submitted(4, soon);
        unwrap(await tasks.hide(hidden.id, owner, noon));
        for (const id of [waiting.id, done.id, hidden.id, taskId(99)]) await tasks.makeDueNow(id, noon);
        expect((await tasks.claim("settle", noon, soon, 9)).map(({ task }) => task.id)).toEqual([taskId(1)]);
        expect(await tasks.claim("sweep", noon, soon, 9)).toEqual([]);
        expect(await tasks.claim("keep", noon, soon, 9)).toEqual([]);
      });

      it("bringForward makes tasks that are due too late due at the given time, also leased ones", async () => {
        await submitted(1, secondsAfter(noon, 3600));
        await submitted(2);
        const [late] = await tasks.claim("settle", noon, secondsAfter(noon, 7200), 1);
        await submitted(3, secondsAfter(noon, 60));
        await tasks.bringForward("settle", () => ({ latest: secondsAfter(noon, 60), dueAt: noon }));
        const due = await tasks.claim("settle", noon, secondsAfter(noon, 30), 9);
        expect(due.map(({ task }) => task.id).sort()).toEqual([taskId(1), taskId(2)]);
        expect(await tasks.move(late!, failed(late!.task), undefined)).toMatchObject({ error: { kind: "stale_task" } });
        expect(await tasks.claim("settle", secondsAfter(noon, 60), soon, 9)).toHaveLength(3);
      });

      it("bringForward leaves what is due in time by the clock after it was read", async () => {
        await submitted(1, secondsAfter(noon, 3600));
        await submitted(2, secondsAfter(noon, 7200));
        let now = noon; // of a process that is paused before its statement is sent
        await tasks.bringForward("settle", () => {
          const bounds = { latest: secondsAfter(now, 60), dueAt: now };
          now = secondsAfter(noon, 3600);
          return bounds;
        });
        const due = await tasks.claim("settle", secondsAfter(noon, 3599), soon, 9);
        expect(due.map(({ task }) => task.id)).toEqual([]);
        expect(await tasks.claim("settle", secondsAfter(noon, 3600), soon, 9)).toHaveLength(2);
      });

      it("bringForward changes only tasks of its kind of work", async () => {
        const later = secondsAfter(noon, 3600);
        await reserved(1, later);
        await submitted(2, later);
        const done = await succeeded(3);
        unwrap(await tasks.move(done, done, later));
        const ended = await succeeded(4);
        unwrap(await tasks.move(ended, ended, undefined));
        for (const [work, n] of [
          ["sweep", 1],
          ["settle", 2],
          ["keep", 3],
        ] as const) {
          await tasks.bringForward(work, () => ({ latest: soon, dueAt: noon }));
          for (const other of ["giveUp", "sweep", "settle", "keep"] as const) {
            const due = await tasks.claim(other, noon, secondsAfter(noon, 9), 9);
            expect(due.map(({ task }) => task.id)).toEqual(other === work ? [taskId(n)] : []);
          }
        }
      });

      it("postpone returns several leases in one call, each with its own due time", async () => {
        const many = [await submitted(1), await submitted(2), await submitted(3)];
        const leases = await tasks.claim("settle", noon, soon, 9);
        await tasks.postpone(leases.map((lease, n) => ({ lease, dueAt: secondsAfter(noon, n + 1) })));
        expect(await tasks.claim("settle", secondsAfter(noon, 0.999), soon, 9)).toEqual([]);
        const due = await tasks.claim("settle", secondsAfter(noon, 2), soon, 9);
        expect(due.map(({ task, fence }) => [task.id, fence]).sort()).toEqual([
          [leases[0]?.task.id, 2],
          [leases[1]?.task.id, 2],
        ]);
        for (const task of many) expect(await tasks.find(task.id, owner)).toEqual(task);
      });

      it("postpone ignores leases of tasks that were claimed again or changed their state", async () => {
        const [one, other] = [await submitted(1), await submitted(2)];
        const late = await tasks.claim("settle", noon, secondsAfter(noon, 1), 9);
        const [theirs] = await tasks.claim("settle", secondsAfter(noon, 1), soon, 1);
        const ended = theirs?.task.id === one.id ? other : one;
        unwrap(await tasks.move(ended, failed(ended), undefined));
        await tasks.postpone(late.map((lease) => ({ lease, dueAt: noon })));
        expect(await tasks.claim("settle", secondsAfter(noon, 2), soon, 9)).toEqual([]);
      });

      it("does not stop a caller without a lease from moving the task", async () => {
        const task = await reserved();
        await tasks.claim("sweep", noon, soon, 1);
        expect(await tasks.move(task, submit(task, "upstream-1", noon), noon)).toEqual(ok(undefined));
      });
    });
  });

const unwrap = <T>(result: Result<T, unknown>): T => result._unsafeUnwrap();

const refusals = (results: readonly Result<unknown, { readonly kind: string }>[]) =>
  new Set(results.flatMap((result) => (result.isErr() ? [result.error.kind] : [])));

/** Removes the characters that a request must not contain (domain/creation-request.ts). */
const storable = (text: string): string => text.replaceAll("\u0000", "").toWellFormed();
