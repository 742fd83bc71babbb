import { err, ok, type Result } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  anAccount,
  anApiKey,
  aPaidOrder,
  apiKeyId,
  aSubmittingTask,
  noon,
  secondsAfter,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../../adapters/contracts/support/in-changing-zones.js";
import { notFound } from "../../../application/errors.js";
import { credits } from "../../../domain/credits/credits.js";
import type { Stores } from "../stores.js";
import { taskSteps } from "../task-steps.js";

/** What every ApiKeyStore must do (application/ports/stores/account-stores.ts). */
export const describeApiKeyStore = (
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "keys" | "tasks" | "close">>,
) =>
  describe(`ApiKeyStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    const always = () => ok(undefined);
    let stores: Pick<Stores, "accounts" | "keys" | "tasks" | "close">;

    const open = (id = owner) => stores.accounts.open(anAccount({ id }));

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      await open();
    });
    afterEach(() => stores.close());

    it("throws when it inserts a key of an unknown account", async () => {
      await expect(stores.keys.insert(anApiKey({ accountId: other }), always)).rejects.toThrow();
    });

    it("returns an inserted key with its limits, and with the date of its first revocation", async () => {
      const { keys } = stores;
      const limits = {
        scopes: ["create"] as const,
        expiresAt: secondsAfter(noon, 0.25),
        creditsPerDay: credits(1),
        creditsPerMonth: credits(1_000_000_000),
      };
      const key = anApiKey({ name: `laptop "2" 'ä' ? \\ 🌄`, limits });
      await keys.insert(key, always);
      expect(await keys.list(owner)).toEqual([key]);
      for (const seconds of [1, 9])
        expect(await keys.revoke(key.id, secondsAfter(noon, seconds))).toEqual(ok(undefined));
      expect(await keys.list(owner)).toEqual([{ ...key, revokedAt: secondsAfter(noon, 1) }]);
    });

    it("returns not_found when it revokes an unknown key", async () => {
      const unknown = err(notFound(`There is no key ${apiKeyId(9)}.`));
      expect(await stores.keys.revoke(apiKeyId(9), noon)).toEqual(unknown);
    });

    it("lists the account's own keys, oldest first, and those that are not revoked, newest first", async () => {
      const { keys } = stores;
      await open(other);
      for (const n of [2, 3, 1]) await keys.insert(anApiKey({ id: apiKeyId(n) }), always);
      await keys.insert(anApiKey({ id: apiKeyId(4), accountId: other }), always);
      await keys.revoke(apiKeyId(2), noon);
      expect((await keys.list(owner)).map(({ id }) => id)).toEqual([1, 2, 3].map(apiKeyId));
      expect((await keys.listLive(owner)).map(({ id }) => id)).toEqual([3, 1].map(apiKeyId));
    });

    it("stores the last uses of many keys, and keeps a later one", async () => {
      const { keys } = stores;
      await open(other);
      for (const n of [1, 2, 3])
        await keys.insert(anApiKey({ id: apiKeyId(n), accountId: n === 3 ? other : owner }), always);
      await keys.recordUses(
        new Map([
          [apiKeyId(1), secondsAfter(noon, 10)],
          [apiKeyId(3), secondsAfter(noon, 30)],
          [apiKeyId(9), noon],
        ]),
      );
      await keys.recordUses(
        new Map([
          [apiKeyId(1), secondsAfter(noon, 9.999)],
          [apiKeyId(2), secondsAfter(noon, 20)],
          [apiKeyId(3), secondsAfter(noon, 31)],
        ]),
      );
      const uses = async (id: typeof owner) => (await keys.list(id)).map(({ lastUsedAt }) => lastUsedAt);
      expect(await uses(owner)).toEqual([secondsAfter(noon, 10), secondsAfter(noon, 20)]);
      expect(await uses(other)).toEqual([secondsAfter(noon, 31)]);
    });

    it("stores the last uses of more keys than one statement takes, from several callers at once", async () => {
      const { keys } = stores;
      const ids = Array.from({ length: 1_100 }, (_, n) => apiKeyId(n));
      for (const n of [0, 499, 500, 1_099]) await keys.insert(anApiKey({ id: apiKeyId(n) }), always);
      const uses = (seconds: number) => new Map(ids.map((id) => [id, secondsAfter(noon, seconds)]));
      await Promise.all([
        keys.recordUses(uses(1)),
        keys.recordUses(new Map([...uses(2)].reverse())),
        keys.recordUses(uses(3)),
      ]);
      const stored = (await keys.list(owner)).map(({ lastUsedAt }) => lastUsedAt);
      expect(stored).toEqual(Array.from({ length: 4 }, () => secondsAfter(noon, 3)));
    });

    it("sums the spending of the account's keys per day and month", async () => {
      const { accounts, keys } = stores;
      const steps = taskSteps(() => stores.tasks);
      await accounts.open(anAccount({ id: other }), {
        order: aPaidOrder({ accountId: other, credits: credits(1_000) }),
      });
      await keys.insert(anApiKey({ id: apiKeyId(1), accountId: other }), always);
      await keys.insert(anApiKey({ id: apiKeyId(2), accountId: other }), always);
      await keys.insert(anApiKey({ id: apiKeyId(3), accountId: other }), always);
      const create = async (n: number, at: string, key: number | undefined, resolution = "1k") => {
        await steps.open(
          aSubmittingTask({
            id: taskId(n),
            accountId: other,
            reservedAt: new Date(at),
            apiKeyId: key === undefined ? undefined : apiKeyId(key),
            request: aCreationRequest({ resolution }),
          }),
        );
      };
      await create(1, "2026-01-31T23:59:59.999Z", 1);
      await create(2, "2026-02-01T00:00:00.000Z", 1, "4k");
      await create(3, "2026-02-28T12:00:00.000Z", 1, "2k");
      await create(4, "2026-02-28T13:00:00.000Z", 2);
      await create(5, "2026-02-28T14:00:00.000Z", undefined);
      const at = async (text: string) => new Map(await keys.spending(other, new Date(text)));
      expect(await at("2026-01-31T00:00:00Z")).toEqual(new Map([[apiKeyId(1), { today: 4, thisMonth: 4 }]]));
      expect(await at("2026-02-28T23:59:59.999Z")).toEqual(
        new Map([
          [apiKeyId(1), { today: 6, thisMonth: 16 }],
          [apiKeyId(2), { today: 4, thisMonth: 4 }],
        ]),
      );
      expect((await at("2026-02-02T00:00:00Z")).get(apiKeyId(1))).toEqual({ today: 0, thisMonth: 16 });
      expect(await at("2026-03-01T00:00:00Z")).toEqual(new Map());
      expect(await keys.spending(owner, new Date("2026-02-28T23:59:59.999Z"))).toEqual(new Map());
    });

    it("inserts a key if it is allowed, given the number of the account's live keys", async () => {
      const { keys } = stores;
      await open(other);
      const seen: number[] = [];
      const insert = (n: number, decide: (live: number) => Result<void, "no">, accountId = owner) =>
        keys.insert(anApiKey({ id: apiKeyId(n), accountId }), (live) => {
          seen.push(live);
          return decide(live);
        });
      expect(await insert(1, always)).toEqual(ok(undefined));
      expect(await insert(2, always)).toEqual(ok(undefined));
      expect(await insert(3, () => err("no"))).toEqual(err("no"));
      await keys.revoke(apiKeyId(1), noon);
      await insert(4, always);
      await insert(5, always, other);
      expect(seen).toEqual([0, 1, 2, 1, 0]);
      expect((await keys.list(owner)).map(({ id }) => id)).toEqual([1, 2, 4].map(apiKeyId));
    });

    it("never exceeds the maximum of keys with concurrent insertions", async () => {
      const { keys } = stores;
      const numbers = Array.from({ length: 30 }, (_, index) => index + 1);
      const inserted = await Promise.all(
        numbers.map((n) =>
          keys.insert(anApiKey({ id: apiKeyId(n) }), (live) => (live < 4 ? ok(undefined) : err("full"))),
        ),
      );
      expect(inserted.filter((result) => result.isOk())).toHaveLength(4);
      expect(await keys.listLive(owner)).toHaveLength(4);
    });
  });
