import { err, ok, type Result } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { notFound } from "../../../application/errors.js";
import { accountId, anAccount, anApiKey, apiKeyId, noon, secondsAfter } from "../builders.js";
import type { Stores } from "./stores.js";

/** What every ApiKeyStore must do (application/ports/api-key-store.ts). */
export const describeApiKeyStore = (technology: string, makeStores: () => Promise<Stores>) =>
  describe(`ApiKeyStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    const always = () => ok(undefined);
    let stores: Stores;

    const open = (id = owner) => stores.accounts.open(anAccount({ id }), undefined, undefined, undefined);

    beforeEach(async () => {
      stores = await makeStores();
      await open();
    });
    afterEach(() => stores.close());

    it("throws when it inserts a key of an unknown account", async () => {
      await expect(stores.keys.insert(anApiKey({ accountId: other }), always)).rejects.toThrow();
    });

    it("returns a key as it was inserted, and with the date when it is revoked", async () => {
      const { keys } = stores;
      const key = anApiKey({ name: `laptop "2" 'ä' ? \\ 🌄` });
      await keys.insert(key, always);
      expect(await keys.list(owner)).toEqual([key]);
      expect(await keys.revoke(key.id, secondsAfter(noon, 1))).toEqual(ok(undefined));
      expect(await keys.list(owner)).toEqual([{ ...key, revokedAt: secondsAfter(noon, 1) }]);
    });

    it("keeps the date of the first revocation", async () => {
      const { keys } = stores;
      await keys.insert(anApiKey(), always);
      await keys.revoke(apiKeyId(1), noon);
      expect(await keys.revoke(apiKeyId(1), secondsAfter(noon, 9))).toEqual(ok(undefined));
      expect(await keys.list(owner)).toEqual([anApiKey({ revokedAt: noon })]);
    });

    it("returns not_found when it revokes an unknown key", async () => {
      const unknown = err(notFound(`There is no key ${apiKeyId(9)}.`));
      expect(await stores.keys.revoke(apiKeyId(9), noon)).toEqual(unknown);
    });

    it("lists the account's own keys, oldest first", async () => {
      const { keys } = stores;
      await open(other);
      for (const n of [2, 3, 1]) await keys.insert(anApiKey({ id: apiKeyId(n) }), always);
      await keys.insert(anApiKey({ id: apiKeyId(4), accountId: other }), always);
      expect((await keys.list(owner)).map(({ id }) => id)).toEqual([1, 2, 3].map(apiKeyId));
    });

    it("lists the account's keys that are not revoked, newest first", async () => {
      const { keys } = stores;
      await open(other);
      for (const n of [2, 3, 1]) await keys.insert(anApiKey({ id: apiKeyId(n) }), always);
      await keys.insert(anApiKey({ id: apiKeyId(4), accountId: other }), always);
      await keys.revoke(apiKeyId(2), noon);
      expect((await keys.listLive(owner)).map(({ id }) => id)).toEqual([3, 1].map(apiKeyId));
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

    it("counts concurrent insertions, so that no more keys are made than allowed", async () => {
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
