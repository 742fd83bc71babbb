import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, noon, secondsAfter } from "../../../adapters/contracts/builders.js";
import type { Stores } from "../../../adapters/contracts/stores.js";
import { image } from "../../../adapters/memory/memory-imaging.js";
import { uploadImages } from "../../../application/panoramas/upload-images.js";
import type { AccountId } from "../../../domain/account.js";
import { fail } from "../../../domain/task.js";
import { useCases } from "../application.js";
import { anOwner, aWorld } from "../world.js";

/** Uploads, creations and deletions of two instances at the same time, on the stores of one database. */
export const describeConcurrentUploads = (technology: string, makeStores: () => Promise<Stores>) =>
  describe(`concurrent uploads, creations and deletions ${technology}`, () => {
    const soon = secondsAfter(noon, 600);
    let stores: Stores;

    beforeEach(async () => {
      stores = await makeStores();
    });
    afterEach(() => stores.close());

    it("never loses an image that an upload or a creation refers to, under concurrent deletions", async () => {
      const world = aWorld(stores);
      const storage = world.storage;
      // Deletions are slow, as in a bucket, so that uploads and creations happen in between.
      const slow = {
        ...world,
        storage: Object.assign(Object.create(storage), { delete: slowly(storage.delete.bind(storage)) }),
      };
      const { createPanorama } = useCases(world);
      const upload = uploadImages(world);
      const instances = [useCases({ ...slow }), useCases({ ...slow })];
      const owners = await Promise.all(Array.from({ length: 4 }, () => anOwner(world, 10_000)));
      let missing = 0;
      let accepted = 0;
      let refused = 0;
      world.provider.submit = async ({ taskId: id, request }) => {
        // The moment when a provider reads the images.
        for (const url of request.imageUrls) if ((await storage.read(storage.nameOf(url)!)).isErr()) missing += 1;
        accepted += 1;
        return accepted % 3 === 0 ? err({ kind: "refused", reason: "no" }) : ok(`upstream-${id}`);
      };
      let working = owners.length;
      const customer = async (id: AccountId, seed: number) => {
        for (let n = 0; n < 25; n += 1) {
          const bytes = image(`content ${(n + seed) % 2}`);
          const [url] = (
            await upload(id, [{ declaredType: undefined, sizeBytes: 9, read: async () => bytes }])
          )._unsafeUnwrap();
          const result = await createPanorama(id, aCreationRequest({ image_urls: [url] }));
          if (result.isErr()) {
            refused += result.error.kind === "invalid_request" ? 1 : 0;
            continue;
          }
          const { task } = result.value;
          if (n % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
          for (const used of task.request.imageUrls) {
            if ((await storage.read(storage.nameOf(used)!)).isErr()) missing += 1;
          }
          if (task.state === "submitted") {
            const failed = fail(task, "generation_failed", world.clock.now());
            (await stores.tasks.move(task, failed, undefined))._unsafeUnwrap();
          }
          (await stores.tasks.hide(task.id, id, world.clock.now()))._unsafeUnwrap();
        }
        working -= 1;
      };
      const cleaner = async ({ deleteExpired }: (typeof instances)[number]) => {
        let deleted = 0;
        while (working > 0) {
          await world.clock.advance(25 * 60 * 60 * 1000); // everything unused has expired
          deleted += await deleteExpired();
        }
        return deleted;
      };
      const [deletedByOne = 0, deletedByOther = 0] = (
        await Promise.all([...instances.map(cleaner), ...owners.map((id, seed) => customer(id, seed))])
      ).map((deleted) => deleted ?? 0);
      expect(missing).toBe(0);
      expect(accepted).toBeGreaterThan(10);
      expect(deletedByOne + deletedByOther).toBeGreaterThan(0);
      expect(accepted + refused).toBeLessThanOrEqual(100);

      for (const deleteExpired of [instances[0]!.deleteExpired, instances[0]!.deleteExpired]) {
        await world.clock.advance(25 * 60 * 60 * 1000);
        await deleteExpired();
      }
      expect(await stores.references.claimDeletable(secondsAfter(world.clock.now(), 1e6), soon, 9)).toEqual([]);
    });
  });

const slowly =
  <Arguments extends unknown[], Answer>(call: (...args: Arguments) => Promise<Answer>) =>
  async (...args: Arguments): Promise<Answer> => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return call(...args);
  };
