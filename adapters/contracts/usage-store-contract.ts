import fc from "fast-check";
import { ok } from "neverthrow";
import { USAGE_PARTS, type UsageLine, type UsageQuery } from "../../application/ports/stores/usage-store.js";
import { credits } from "../../domain/credits/credits.js";
import type { LedgerEntry } from "../../domain/credits/ledger.js";
import type { Resolution } from "../../domain/images/resolution.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { fail, finish, isActive, openTask, submit, succeed, type Task, withCost } from "../../domain/tasks/task.js";
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
} from "./support/builders.js";
import { checkProperty, ON_ONE_STORE } from "./support/check-property.js";
import { expect } from "./support/expect.js";
import { inChangingZones } from "./support/in-changing-zones.js";
import type { Stores } from "./support/stores.js";
import type { SuiteOptions } from "./support/suite-options.js";
import type { TestFunctions } from "./support/test-functions.js";

type UsedStores = Pick<Stores, "accounts" | "keys" | "ledger" | "tasks" | "usage" | "close">;

const DAY_SECONDS = 24 * 60 * 60;
const NO_LIMIT = {
  ...PANORAMA_POLICY,
  activeMax: 1_000_000,
  rates: { write: { limit: 1_000_000, windowSeconds: 60 } },
};

/** One creation, `hour` hours after noon, and what becomes of it. */
const aStory = fc.record({
  owner: fc.constantFrom(1, 2),
  key: fc.constantFrom(undefined, 1, 2),
  hour: fc.nat(72),
  resolution: fc.constantFrom<Resolution[]>("1k", "2k", "4k"),
  place: fc.constantFrom(undefined, "local", "fal:flux-3"),
  end: fc.constantFrom("reserved", "refused", "submitted", "failed", "generated", "unusable", "succeeded", "deleted"),
  cost: fc.option(fc.record({ currency: fc.constantFrom("USD", "EUR"), micros: fc.nat(2_000_000) }), {
    nil: undefined,
  }),
});
type Story = typeof aStory extends fc.Arbitrary<infer Value> ? Value : never;

const aQuery = fc.record({
  from: fc.integer({ min: -1, max: 73 }),
  hours: fc.integer({ min: 0, max: 80 }),
  by: fc.constantFrom(undefined, ...USAGE_PARTS),
});

/** What every UsageStore must do (application/ports/stores/usage-store.ts). */
export const describeUsageStore = (
  { describe, it, beforeEach, afterEach }: TestFunctions,
  technology: string,
  makeStores: () => Promise<UsedStores>,
  options: SuiteOptions = {},
): void =>
  describe(`UsageStore ${technology}`, () => {
    let stores: UsedStores;
    let last = 0;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      for (const n of [1, 2]) {
        const id = accountId(n);
        const order = aPaidOrder({ id: orderId(n), accountId: id, credits: credits(1_000_000) });
        (await stores.accounts.open(anAccount({ id }), { order }))._unsafeUnwrap();
      }
      for (const n of [1, 2])
        (await stores.keys.insert(anApiKey({ id: apiKeyId(n) }), () => ok(undefined)))._unsafeUnwrap();
      last = 0;
    });
    afterEach(() => stores.close());

    /** Tells the story, and returns the task as it is then. */
    const tell = async ({ owner, key, hour, resolution, place, end, cost }: Story): Promise<Task> => {
      const { tasks } = stores;
      const account = accountId(owner);
      const at = secondsAfter(noon, hour * 60 * 60);
      last += 1;
      const reserved = aReservedTask({
        id: taskId(last),
        accountId: account,
        apiKeyId: key === undefined ? undefined : apiKeyId(key),
        request: aCreationRequest({ resolution }),
        reservedAt: at,
        place,
      });
      (
        await tasks.open({
          account,
          dueAt: at,
          decide: (standing) => openTask(standing, reserved, { policy: NO_LIMIT, now: at, place }),
        })
      )._unsafeUnwrap();
      let task: Task = reserved;
      const go = async (next: Task) => {
        (await tasks.move(task, next, at))._unsafeUnwrap();
        task = next;
      };
      const later = secondsAfter(at, DAY_SECONDS);
      if (end === "reserved") return task;
      if (end === "refused") await go(fail(reserved, "refused", later));
      if (end === "refused") return task;
      const submitted = submit(reserved, `upstream-${last}`, at);
      await go(submitted);
      if (end === "submitted") return task;
      const costed = withCost(submitted, cost);
      if (end === "failed") await go(fail(costed, "generation_failed", later));
      if (end === "failed") return task;
      const generated = finish(costed, "https://p.example/1");
      await go(generated);
      if (end === "generated") return task;
      await go(
        end === "unusable"
          ? fail(generated, "unusable_result", later)
          : succeed(generated, anImageName(last), aNativeSize, later),
      );
      if (end === "deleted") (await tasks.hide(task.id, account, later))._unsafeUnwrap();
      return task;
    };

    const entries = async (): Promise<LedgerEntry[]> =>
      (await Promise.all([1, 2].map((n) => stores.ledger.entries(accountId(n))))).flat();

    const sum = (lines: readonly UsageLine[], of: (line: UsageLine) => number) =>
      lines.reduce((total, line) => total + of(line), 0);

    it("sums tasks by any part, in credits as the ledger has them, whatever has become of them", async () => {
      const told: Task[] = [];
      const run = fc.asyncProperty(
        fc.array(aStory, { minLength: 1, maxLength: 6 }),
        fc.array(aQuery, { minLength: 1, maxLength: 6 }),
        async (stories, queries) => {
          for (const story of stories) told.push(await tell(story));
          const ledger = await entries();
          for (const { from, hours, by } of queries) {
            const start = secondsAfter(noon, from * 60 * 60);
            const query: UsageQuery = { from: start, to: secondsAfter(start, hours * 60 * 60), by };
            const isIn = ({ at }: { at: Date }) => at >= query.from && at < query.to;
            const own = told.filter(({ reservedAt: at }) => isIn({ at }));
            const ids = new Set<string>(own.map(({ id }) => id));
            const lines = await stores.usage.usage(query);

            const ofKind = (kind: LedgerEntry["kind"]) =>
              ledger
                .filter((entry) => entry.kind === kind && "taskId" in entry && ids.has(entry.taskId))
                .reduce((total, { credits }) => total + credits, 0);
            const reservedThen = ledger.filter((entry) => entry.kind === "reservation" && isIn(entry));
            expect(reservedThen.reduce((total, { credits }) => total + credits, 0)).toBe(ofKind("reservation"));
            expect(sum(lines, ({ charged, refunded, held }) => charged + refunded + held)).toBe(
              0 - ofKind("reservation"),
            );
            expect(sum(lines, ({ refunded }) => refunded)).toBe(ofKind("refund"));
            const count = (is: (task: Task) => boolean) => own.filter(is).length;
            expect(sum(lines, ({ succeeded }) => succeeded)).toBe(count(({ state }) => state === "succeeded"));
            expect(sum(lines, ({ failed }) => failed)).toBe(count(({ state }) => state === "failed"));
            expect(sum(lines, ({ active }) => active)).toBe(count(isActive));
            for (const currency of ["USD", "EUR"]) {
              const costs = own.flatMap((task) => ("cost" in task && task.cost ? [task.cost] : []));
              const micros = costs.filter((cost) => cost.currency === currency).reduce((n, cost) => n + cost.micros, 0);
              expect(
                sum(
                  lines.filter((line) => line.currency === currency),
                  (line) => line.micros,
                ),
              ).toBe(micros);
            }
            const names = lines.map(({ part, currency }) => JSON.stringify([part, currency]));
            expect(new Set(names).size).toBe(names.length);
          }
        },
      );
      await checkProperty(run, { numRuns: 25, ...ON_ONE_STORE }, options);
    });

    it("names the part: the day in UTC, the account, the key, the resolution and the place", async () => {
      const story = { owner: 1, resolution: "2k", end: "succeeded" } as const;
      const cost = { currency: "USD" as const, micros: 40_000 };
      await tell({ ...story, key: 1, hour: 0, place: "fal:flux-3", cost });
      await tell({ ...story, key: 1, hour: 11, place: "fal:flux-3", cost });
      await tell({ ...story, key: undefined, hour: 12, place: undefined, cost: undefined });
      const period = { from: noon, to: secondsAfter(noon, 2 * DAY_SECONDS) };
      const nothing = { failed: 0, active: 0, refunded: 0, held: 0 };
      const two = { ...nothing, succeeded: 2, charged: 12, currency: "USD", micros: 80_000 };
      const one = { ...nothing, succeeded: 1, charged: 6, currency: undefined, micros: 0 };
      const [today, tomorrow] = [noon, secondsAfter(noon, DAY_SECONDS)].map((at) => at.toISOString().slice(0, 10));
      for (const [by, first, second] of [
        [undefined, undefined, undefined],
        ["day", today, tomorrow],
        ["account", accountId(1), accountId(1)],
        ["key", apiKeyId(1), undefined],
        ["resolution", "2k", "2k"],
        ["provider", "fal:flux-3", undefined],
      ] as const) {
        const lines = await stores.usage.usage({ ...period, by });
        expect(lines.toSorted((a, b) => b.micros - a.micros)).toEqual([
          { part: first, ...two },
          { part: second, ...one },
        ]);
      }
    });
  });
