import { err, ok, type Result } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  accountId,
  anAccount,
  anEndpoint,
  anEndpointSecret,
  endpointId,
  noon,
  secondsAfter,
} from "../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../adapters/contracts/support/in-changing-zones.js";
import { notFound } from "../../application/errors.js";
import type { Stores } from "./stores.js";

/** What every EndpointStore must do (application/ports/stores/webhook-stores.ts). */
export const describeEndpointStore = (
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "endpoints" | "close">>,
) =>
  describe(`EndpointStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    const always = () => ok(undefined);
    const unknown = (n: number) => err(notFound(`There is no endpoint ${endpointId(n)} on this account.`));
    let stores: Pick<Stores, "accounts" | "endpoints" | "close">;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      for (const id of [owner, other]) await stores.accounts.open(anAccount({ id }));
    });
    afterEach(() => stores.close());

    it("returns the endpoints of an account, oldest first", async () => {
      const { endpoints } = stores;
      const full = anEndpoint({
        id: endpointId(2),
        url: "https://receiver.example.com/ä?token='\"\\",
        previous: { secret: anEndpointSecret(2), until: secondsAfter(noon, 60) },
        failingSince: secondsAfter(noon, 1),
        off: { at: secondsAfter(noon, 2), reason: "gone" },
      });
      await endpoints.insert(full, always);
      await endpoints.insert(anEndpoint(), always);
      await endpoints.insert(anEndpoint({ id: endpointId(3), accountId: other }), always);
      expect(await endpoints.list(owner)).toEqual([anEndpoint(), full]);
    });

    it("throws when it inserts an endpoint of an unknown account", async () => {
      await expect(stores.endpoints.insert(anEndpoint({ accountId: accountId(9) }), always)).rejects.toThrow();
    });

    it("counts concurrent insertions, the endpoints with a URL that are not deleted", async () => {
      const { endpoints } = stores;
      await endpoints.ensureDefault(anEndpoint({ id: endpointId(40), url: undefined }));
      await endpoints.insert(anEndpoint({ id: endpointId(41) }), always);
      await endpoints.delete(endpointId(41), owner, noon);
      const insert = (n: number): Promise<Result<void, unknown>> =>
        endpoints.insert(anEndpoint({ id: endpointId(n), url: `https://receiver.example.com/${n}` }), (urls) =>
          urls.length < 3 && new Set(urls).size === urls.length ? ok(undefined) : err("full"),
        );
      const inserted = await Promise.all(Array.from({ length: 20 }, (_, index) => insert(index + 1)));
      expect(inserted.filter((result) => result.isOk())).toHaveLength(3);
      expect(await endpoints.list(owner)).toHaveLength(4);
    });

    it("makes one default endpoint, whichever of many concurrent callers is first", async () => {
      const { endpoints } = stores;
      const candidates = [1, 2, 3, 4, 5].map((n) =>
        anEndpoint({ id: endpointId(n), url: undefined, secret: anEndpointSecret(n) }),
      );
      const found = await Promise.all(candidates.map((candidate) => endpoints.ensureDefault(candidate)));
      expect(new Set(found.map(({ id }) => id)).size).toBe(1);
      expect(await endpoints.list(owner)).toEqual(found.slice(0, 1));
      expect(candidates).toContainEqual(found[0]);
    });

    it("rotates the secret and keeps the previous one until the given time", async () => {
      const { endpoints } = stores;
      await endpoints.insert(anEndpoint(), always);
      const until = secondsAfter(noon, 60);
      const rotated = anEndpoint({
        secret: anEndpointSecret(2),
        previous: { secret: anEndpointSecret(1), until },
      });
      expect(await endpoints.rotateSecret(endpointId(1), owner, anEndpointSecret(2), until)).toEqual(ok(rotated));
      expect(await endpoints.list(owner)).toEqual([rotated]);
      expect(await endpoints.rotateSecret(endpointId(1), other, anEndpointSecret(3), until)).toEqual(unknown(1));
    });

    it("switches an endpoint on again", async () => {
      const { endpoints } = stores;
      const off = { at: noon, reason: "failing" as const };
      await endpoints.insert(anEndpoint({ failingSince: noon, off }), always);
      expect(await endpoints.enable(endpointId(1), other)).toEqual(unknown(1));
      expect(await endpoints.enable(endpointId(1), owner)).toEqual(ok(undefined));
      expect(await endpoints.list(owner)).toEqual([anEndpoint()]);
    });

    it("deletes an endpoint for good, but not the default endpoint", async () => {
      const { endpoints } = stores;
      await endpoints.insert(anEndpoint(), always);
      const defaultEndpoint = await endpoints.ensureDefault(anEndpoint({ id: endpointId(2), url: undefined }));
      expect(await endpoints.delete(endpointId(1), other, noon)).toEqual(unknown(1));
      expect(await endpoints.delete(endpointId(2), owner, noon)).toEqual(unknown(2));
      expect(await endpoints.delete(endpointId(1), owner, noon)).toEqual(ok(undefined));
      expect(await endpoints.list(owner)).toEqual([defaultEndpoint]);
      expect(await endpoints.enable(endpointId(1), owner)).toEqual(unknown(1));
      expect(await endpoints.rotateSecret(endpointId(1), owner, anEndpointSecret(3), noon)).toEqual(unknown(1));
      expect(await endpoints.delete(endpointId(1), owner, noon)).toEqual(unknown(1));
    });
  });
