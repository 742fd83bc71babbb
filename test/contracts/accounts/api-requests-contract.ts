import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  accountId,
  anAccount,
  anApiKey,
  aPaidOrder,
  apiKeyId,
  aSubmittingTask,
  noon,
  orderId,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../../adapters/contracts/support/in-changing-zones.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import type { ApiRequests } from "../../../application/ports/stores/rate-limits.js";
import { type KeyLimits, NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import { credits } from "../../../domain/credits/credits.js";
import type { AccountId } from "../../../domain/ids.js";
import { RATE_LIMITS } from "../../../domain/panorama-policy.js";
import type { Stores } from "../stores.js";
import { taskSteps } from "../task-steps.js";

/** What every implementation of ApiRequests must do (application/ports/stores/rate-limits.ts). */
export const describeApiRequests = (
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "keys" | "countersAt" | "tasks" | "close">>,
) =>
  describe(`ApiRequests ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    const key = anApiKey();
    const always = () => ok(undefined);
    const invalid = err({ kind: "invalid_api_key" });
    let stores: Pick<Stores, "accounts" | "keys" | "countersAt" | "tasks" | "close">;
    let clock: HandClock;
    let requests: ApiRequests;

    const open = (n: number, account: AccountId = owner) =>
      taskSteps(() => stores.tasks).open(aSubmittingTask({ id: taskId(n), accountId: account }));

    const remaining = async () =>
      (await requests.admit(key.secretSha256, "read")).map(({ admission }) => admission.remaining);

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      clock = new HandClock();
      requests = stores.countersAt(clock, RATE_LIMITS).apiRequests;
      for (const [n, id] of [owner, other].entries()) {
        const order = aPaidOrder({ id: orderId(n), accountId: id });
        (await stores.accounts.open(anAccount({ id }), { order }))._unsafeUnwrap();
      }
      (await stores.keys.insert(key, always))._unsafeUnwrap();
    });
    afterEach(() => stores.close());

    it("admits a request with a live key and counts it", async () => {
      const admitted = (await requests.admit(key.secretSha256, "write"))._unsafeUnwrap();
      const { account } = admitted.key;
      // A store that cannot save a round trip by it reads no account.
      if (account !== undefined) expect(account.standing).toMatchObject({ accountId: owner, activeTasks: 0 });
      expect(admitted).toEqual({
        accountId: owner,
        key: { id: key.id, budgets: undefined, account },
        secretSha256: key.secretSha256,
        admission: { limit: 10, remaining: 9, resetSeconds: 60 },
        task: undefined,
      });
      expect((await requests.admit(key.secretSha256, "write"))._unsafeUnwrap().admission.remaining).toBe(8);
      expect((await remaining())._unsafeUnwrap()).toBe(59);
    });

    it("refuses an unknown key", async () => {
      expect(await requests.admit("f".repeat(64), "read")).toEqual(invalid);
      expect(await requests.admit("f".repeat(64), "read", taskId(1))).toEqual(invalid);
    });

    it("refuses a key from the moment it is revoked", async () => {
      expect((await remaining())._unsafeUnwrap()).toBe(59);
      await stores.keys.revoke(key.id, noon);
      expect(await requests.admit(key.secretSha256, "read")).toEqual(invalid);
    });

    /** Adds a key with these limits and returns its digest. */
    const limited = async (limits: Partial<KeyLimits>): Promise<string> => {
      const one = anApiKey({ id: apiKeyId(50), limits: { ...NO_LIMITS, ...limits } });
      (await stores.keys.insert(one, always))._unsafeUnwrap();
      return one.secretSha256;
    };

    for (const kind of ["read", "write"] as const) {
      it(`refuses a ${kind} request from the moment at which the key expires`, async () => {
        const expiresAt = new Date(clock.now().getTime() + 1_000);
        const digest = await limited({ expiresAt });
        const task = await open(1);
        await clock.advance(999);
        expect((await requests.admit(digest, kind, task.id)).isOk()).toBe(true);
        await clock.advance(1);
        const expired = err({ kind: "api_key_expired", expiredAt: expiresAt });
        expect(await requests.admit(digest, kind, task.id)).toEqual(expired);
        expect(await requests.admit(digest, kind)).toEqual(expired);
      });
    }

    for (const [own, kind, scope] of [
      ["read", "write", "create"],
      ["create", "read", "read"],
    ] as const) {
      it(`refuses a key with the scope ${own} alone for a ${kind} request, which needs ${scope}`, async () => {
        const digest = await limited({ scopes: [own] });
        const missing = err({ kind: "missing_scope", scope });
        expect(await requests.admit(digest, kind)).toEqual(missing);
        expect(await requests.admit(digest, kind, (await open(1)).id)).toEqual(missing);
        const allowed = kind === "read" ? "write" : "read";
        const { admission } = (await requests.admit(digest, allowed))._unsafeUnwrap();
        expect(admission.remaining).toBe(RATE_LIMITS[allowed].limit - 1);
      });
    }

    it("does not count requests refused by the key's limits", async () => {
      const digest = await limited({ scopes: ["read"] });
      for (let n = 0; n < RATE_LIMITS.total.limit + 5; n += 1) await requests.admit(digest, "write");
      expect((await requests.admit(key.secretSha256, "write"))._unsafeUnwrap().admission.remaining).toBe(9);
    });

    it("returns the budgets of the key with a write", async () => {
      const digest = await limited({ creditsPerDay: credits(20), creditsPerMonth: credits(300) });
      const { key: admitted } = (await requests.admit(digest, "write"))._unsafeUnwrap();
      expect(admitted.id).toBe(apiKeyId(50));
      expect(admitted.budgets).toMatchObject({ creditsPerDay: 20, creditsPerMonth: 300 });
    });

    for (const kind of ["read", "write"] as const) {
      it(`refuses a ${kind} request over the limit, even if it names a task`, async () => {
        const task = await open(1);
        for (let n = 0; n < RATE_LIMITS[kind].limit; n += 1) {
          expect((await requests.admit(key.secretSha256, kind, task.id)).isOk()).toBe(true);
        }
        await clock.advance(20_000);
        expect(await requests.admit(key.secretSha256, kind, task.id)).toEqual(
          err({ kind: "rate_limited", limit: RATE_LIMITS[kind].limit, retryAfterSeconds: 40 }),
        );
      });
    }

    it("returns the wait of a key over its limit at random times, and admits it afterwards", async () => {
      const { limit } = RATE_LIMITS.write;
      for (let n = 0; n < limit; n += 1) await requests.admit(key.secretSha256, "write");
      for (const retryAfterSeconds of [60, 60, 59, 58, 58, 57]) {
        const refused = err({ kind: "rate_limited", limit, retryAfterSeconds });
        expect(await requests.admit(key.secretSha256, "write")).toEqual(refused);
        await clock.advance(700);
      }
      expect((await remaining())._unsafeUnwrap()).toBe(59);
      await clock.advance(60_000 - 6 * 700 - 1);
      expect((await requests.admit(key.secretSha256, "write")).isErr()).toBe(true);
      await clock.advance(1);
      expect((await requests.admit(key.secretSha256, "write"))._unsafeUnwrap().admission.remaining).toBe(9);
    });

    it("counts the requests of each key separately", async () => {
      const second = anApiKey({ id: apiKeyId(2), secretSha256: "2".repeat(64) });
      (await stores.keys.insert(second, always))._unsafeUnwrap();
      await requests.admit(key.secretSha256, "read");
      expect((await requests.admit(second.secretSha256, "read"))._unsafeUnwrap().admission.remaining).toBe(59);
    });

    it("admits exactly the limit of concurrent requests", async () => {
      const results = await Promise.all(Array.from({ length: 25 }, () => requests.admit(key.secretSha256, "write")));
      expect(results.filter((result) => result.isOk())).toHaveLength(RATE_LIMITS.write.limit);
    });

    /** More keys than an account may have now: from before the number was limited. */
    const openKeys = async (count: number): Promise<readonly string[]> => {
      const keys = Array.from({ length: count }, (_, n) => anApiKey({ id: apiKeyId(100 + n) }));
      for (const one of keys) (await stores.keys.insert(one, always))._unsafeUnwrap();
      return keys.map(({ secretSha256 }) => secretSha256);
    };

    it("counts a write for its key and its account, and returns the admission of the key", async () => {
      const [last = "", ...digests] = await openKeys(21);
      for (const digest of digests) {
        for (let left = 9; left >= 0; left -= 1) {
          const admitted = (await requests.admit(digest, "write"))._unsafeUnwrap();
          expect(admitted.admission).toEqual({ limit: 10, remaining: left, resetSeconds: 60 });
        }
        const ownLimit = err({ kind: "rate_limited", limit: 10, retryAfterSeconds: 60 });
        expect(await requests.admit(digest, "write")).toEqual(ownLimit);
      }
      await clock.advance(1_000);
      expect(await requests.admit(last, "write")).toEqual(
        err({ kind: "account_rate_limited", limit: 200, retryAfterSeconds: 59 }),
      );
      expect((await requests.admit(last, "read"))._unsafeUnwrap().accountId).toBe(owner);
      await clock.advance(59_000);
      // The write that the account's limit has refused counted for the key.
      expect((await requests.admit(last, "write"))._unsafeUnwrap().admission.remaining).toBe(8);
    });

    it("admits exactly the account's limit of concurrent writes with many keys", async () => {
      const digests = await openKeys(40);
      const writes = Array.from({ length: 300 }, (_, n) => requests.admit(digests[n % 40] ?? "", "write"));
      const results = await Promise.all(writes);
      expect(results.filter((result) => result.isOk())).toHaveLength(RATE_LIMITS.total.limit);
    });

    it("reads the task that is named, as TaskStore.find does", async () => {
      const task = await open(1);
      const admitted = (await requests.admit(key.secretSha256, "read", task.id))._unsafeUnwrap();
      expect(admitted.task).toEqual(await stores.tasks.find(task.id, owner));
      expect(admitted.task).toEqual(task);
    });

    it("does not find an unknown or deleted task or one of another account, but counts the request", async () => {
      const foreign = await open(3, other);
      const deleted = await open(2);
      await stores.tasks.delete(deleted.id, owner, noon);
      for (const id of [taskId(404), foreign.id, deleted.id]) {
        const admitted = (await requests.admit(key.secretSha256, "read", id))._unsafeUnwrap();
        expect(admitted).toMatchObject({ accountId: owner, task: undefined });
      }
      expect((await remaining())._unsafeUnwrap()).toBe(56);
    });
  });
