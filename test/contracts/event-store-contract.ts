import { ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  accountId,
  anAccount,
  anApiKey,
  aPaidOrder,
  apiKeyId,
  aSubmittingTask,
  noon,
  openATask,
  orderId,
  secondsAfter,
  taskId,
} from "../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../adapters/contracts/support/in-changing-zones.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import { credits } from "../../domain/credits/credits.js";
import type { Standing } from "../../domain/credits/standing.js";
import { keep, type UploadingImage } from "../../domain/images/storage-status.js";
import { withImage } from "../../domain/tasks/task.js";
import type { Stores } from "./stores.js";
import { end, taskSteps } from "./task-steps.js";

/** What every EventStore must do (application/ports/stores/webhook-stores.ts). */
export const describeEventStore = (
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "events" | "keys" | "tasks" | "close">>,
) =>
  describe(`EventStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    let stores: Pick<Stores, "accounts" | "events" | "keys" | "tasks" | "close">;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      for (const [n, id] of [owner, other].entries()) {
        const order = aPaidOrder({ id: orderId(n + 1), accountId: id, credits: credits(1_000) });
        await stores.accounts.open(anAccount({ id }), { order });
      }
    });
    afterEach(() => stores.close());

    const steps = taskSteps(() => stores.tasks);
    const open = (n: number, account = owner) => steps.open(aSubmittingTask({ id: taskId(n), accountId: account }));
    const openLow = (n: number) => {
      const task = aSubmittingTask({ id: taskId(n) });
      const decide = (standing: Standing) =>
        openATask({ ...standing, lowBalanceThreshold: standing.credits }, task, noon);
      return stores.tasks.open({ account: owner, dueAt: noon, decide });
    };
    const failed = async (n: number, account = owner) => steps.failed(await open(n, account));
    const saved = async (n: number) => steps.saved(await open(n));
    const read = async (after: number, limit = 100, task?: number) =>
      (await stores.events.after(owner, after, limit, task === undefined ? undefined : taskId(task))).map(
        ({ event }) => `${event.number} ${event.type}`,
      );

    it("writes no event for an image stored after the deletion", async () => {
      const done = await steps.succeeded(await open(1));
      await stores.tasks.delete(done.id, owner, end);
      await steps.move(done, withImage(done, keep(done.image as UploadingImage)));
      await failed(2);
      // Events of the hidden task are left out; its end was the first one.
      expect(await read(0)).toEqual(["2 panorama.failed"]);
    });

    it("returns the account's events after a number, in their order, at most the limit", async () => {
      await failed(1);
      await failed(2, other);
      await saved(3);
      await openLow(4);
      const all = ["1 panorama.failed", "2 panorama.succeeded", "3 panorama.saved", "4 credits.low"];
      expect(await read(0)).toEqual(all);
      expect(await read(1, 2)).toEqual(all.slice(1, 3));
      expect(await read(4)).toEqual([]);
    });

    it("returns each event with the current task", async () => {
      await saved(1);
      await openLow(2);
      const [first, , low] = await stores.events.after(owner, 0, 100);
      expect(first).toEqual({
        event: { accountId: owner, number: 1, type: "panorama.succeeded", taskId: taskId(1), at: end },
        task: await stores.tasks.find(taskId(1), owner),
      });
      expect(first?.task).toMatchObject({ image: { status: "saved" } });
      expect(low).toEqual({
        event: { accountId: owner, number: 3, type: "credits.low", remainingCredits: 992, at: noon },
        task: undefined,
      });
    });

    it("returns only the events of one task, and none of a task of another account", async () => {
      await failed(1);
      await saved(2);
      await failed(3, other);
      expect(await read(0, 100, 2)).toEqual(["2 panorama.succeeded", "3 panorama.saved"]);
      expect(await read(2, 100, 2)).toEqual(["3 panorama.saved"]);
      expect(await read(0, 100, 3)).toEqual([]);
    });

    it("reads on behind events of tasks that are deleted", async () => {
      for (const n of [1, 2, 3, 4, 5]) await failed(n);
      for (const n of [1, 2, 4]) await stores.tasks.delete(taskId(n), owner, end);
      expect(await read(0, 2)).toEqual(["3 panorama.failed", "5 panorama.failed"]);
      expect(await read(3, 1)).toEqual(["5 panorama.failed"]);
    });

    it("returns the number of the latest event of each account", async () => {
      await failed(1);
      await failed(2);
      const latest = await stores.events.latest([owner, other, accountId(9)]);
      expect([...latest].sort()).toEqual([
        [owner, 2],
        [other, 0],
      ]);
    });

    it("watches accounts and keys at once: the latest events, and the limits of keys that are not revoked", async () => {
      await failed(1);
      const expiresAt = secondsAfter(noon, 60);
      const limits = { ...NO_LIMITS, scopes: ["create"], expiresAt } as const;
      const keys = [anApiKey(), anApiKey({ id: apiKeyId(2), limits }), anApiKey({ id: apiKeyId(3) })];
      for (const key of keys) await stores.keys.insert(key, () => ok(undefined));
      await stores.keys.revoke(apiKeyId(3), noon);
      const { latest, liveKeys } = await stores.events.watch(
        [owner, other, accountId(9)],
        [1, 2, 3, 9].map((n) => apiKeyId(n)),
      );
      expect([...latest].sort()).toEqual([
        [owner, 1],
        [other, 0],
      ]);
      expect([...liveKeys].sort().map(([id, use]) => [id, use.scopes, use.expiresAt])).toEqual([
        [apiKeyId(1), NO_LIMITS.scopes, undefined],
        [apiKeyId(2), ["create"], expiresAt],
      ]);
    });

    it("watches nothing of no accounts and no keys", async () => {
      const { latest, liveKeys } = await stores.events.watch([], []);
      expect([latest.size, liveKeys.size]).toEqual([0, 0]);
    });
  });
