import { ok } from "neverthrow";
import {
  accountId,
  aNativeSize,
  anAccount,
  anApiKey,
  anImageName,
  aPaidOrder,
  apiKeyId,
  aSubmittingTask,
  noon,
  openATask,
  orderId,
  secondsAfter,
  taskId,
} from "../../adapters/contracts/support/builders.js";
import { expect } from "../../adapters/contracts/support/expect.js";
import { inChangingZones } from "../../adapters/contracts/support/in-changing-zones.js";
import type { TestFunctions } from "../../adapters/contracts/support/test-functions.js";
import { NO_LIMITS } from "../../domain/accounts/key-limits.js";
import { credits } from "../../domain/credits/credits.js";
import { keep, type UploadingImage } from "../../domain/images/storage-status.js";
import { fail, finish, submit, succeed, withImage } from "../../domain/tasks/task.js";
import type { Stores } from "./stores.js";

/** What every EventStore must do (application/ports/stores/webhook-stores.ts). */
export const describeEventStore = (
  { describe, it, beforeEach, afterEach }: TestFunctions,
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "events" | "keys" | "tasks" | "close">>,
): void =>
  describe(`EventStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    const end = secondsAfter(noon, 30);
    let stores: Pick<Stores, "accounts" | "events" | "keys" | "tasks" | "close">;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      for (const [n, id] of [owner, other].entries()) {
        const order = aPaidOrder({ id: orderId(n + 1), accountId: id, credits: credits(1_000) });
        await stores.accounts.open(anAccount({ id }), { order });
      }
    });
    afterEach(() => stores.close());

    const open = async (n: number, account = owner, isLow = false) => {
      const task = aSubmittingTask({ id: taskId(n), accountId: account });
      const opened = await stores.tasks.open({
        account,
        dueAt: noon,
        decide: (standing) =>
          openATask({ ...standing, lowBalanceThreshold: isLow ? standing.credits : undefined }, task, noon),
      });
      expect(opened.isOk()).toBe(true);
      return task;
    };
    const failed = async (n: number, account = owner) => {
      const task = await open(n, account);
      expect(await stores.tasks.move(task, fail(task, "refused", end), undefined)).toEqual(ok(undefined));
    };
    const saved = async (n: number, isHidden = false) => {
      const task = await open(n);
      const submitted = submit(task, `upstream-${n}`, noon);
      await stores.tasks.move(task, submitted, noon);
      const succeeded = succeed(finish(submitted, "https://p.example/1"), anImageName(n), aNativeSize, end);
      await stores.tasks.move(submitted, succeeded, end);
      if (isHidden) await stores.tasks.delete(task.id, owner, end);
      await stores.tasks.move(succeeded, withImage(succeeded, keep(succeeded.image as UploadingImage)), undefined);
    };
    const read = async (after: number, limit = 100, task?: number) =>
      (await stores.events.after(owner, after, limit, task === undefined ? undefined : taskId(task))).map(
        ({ event }) => `${event.number} ${event.type}`,
      );

    it("writes no event for an image stored after the deletion", async () => {
      await saved(1, true);
      await failed(2);
      // Events of the hidden task are left out; its end was the first one.
      expect(await read(0)).toEqual(["2 panorama.failed"]);
    });

    it("returns the account's events after a number, in their order, at most the limit", async () => {
      await failed(1);
      await failed(2, other);
      await saved(3);
      await open(4, owner, true);
      const all = ["1 panorama.failed", "2 panorama.succeeded", "3 panorama.saved", "4 credits.low"];
      expect(await read(0)).toEqual(all);
      expect(await read(1, 2)).toEqual(all.slice(1, 3));
      expect(await read(4)).toEqual([]);
    });

    it("returns each event with the current task", async () => {
      await saved(1);
      await open(2, owner, true);
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

    it("leaves out events of a task that is deleted", async () => {
      await failed(1);
      await saved(2);
      await stores.tasks.delete(taskId(2), owner, end);
      expect(await read(0)).toEqual(["1 panorama.failed"]);
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
