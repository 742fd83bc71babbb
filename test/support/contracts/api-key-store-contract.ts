import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { notFound } from "../../../application/errors.js";
import { accountId, anAccount, anApiKey, apiKeyId, noon, secondsAfter } from "../builders.js";
import type { Stores } from "./stores.js";

/** What every ApiKeyStore must do (application/ports/api-key-store.ts). */
export const describeApiKeyStore = (technology: string, makeStores: () => Promise<Stores>) =>
  describe(`ApiKeyStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    let stores: Stores;

    const open = (id = owner) => stores.accounts.open(anAccount({ id }), undefined, undefined, undefined);

    beforeEach(async () => {
      stores = await makeStores();
      await open();
    });
    afterEach(() => stores.close());

    it("throws when it inserts a key of an unknown account", async () => {
      await expect(stores.keys.insert(anApiKey({ accountId: other }))).rejects.toThrow();
    });

    it("returns a key as it was inserted, and with the date when it is revoked", async () => {
      const { keys } = stores;
      const key = anApiKey({ name: `laptop "2" 'ä' ? \\ 🌄` });
      await keys.insert(key);
      expect(await keys.list(owner)).toEqual([key]);
      expect(await keys.revoke(key.id, secondsAfter(noon, 1))).toEqual(ok(undefined));
      expect(await keys.list(owner)).toEqual([{ ...key, revokedAt: secondsAfter(noon, 1) }]);
    });

    it("keeps the date of the first revocation", async () => {
      const { keys } = stores;
      await keys.insert(anApiKey());
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
      for (const n of [2, 3, 1]) await keys.insert(anApiKey({ id: apiKeyId(n) }));
      await keys.insert(anApiKey({ id: apiKeyId(4), accountId: other }));
      expect((await keys.list(owner)).map(({ id }) => id)).toEqual([1, 2, 3].map(apiKeyId));
    });
  });
