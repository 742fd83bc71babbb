import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, noon, secondsAfter } from "../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../adapters/contracts/support/in-changing-zones.js";
import { HandClock } from "../../adapters/memory/hand-clock.js";
import { image } from "../../adapters/memory/memory-imaging.js";
import { memoryPorts } from "../../adapters/memory/memory-ports.js";
import { deleteExpiredReferences } from "../../application/background/erase.js";
import { createPanorama } from "../../application/panoramas/create-panorama.js";
import { generationTime } from "../../application/panoramas/forecast-task.js";
import { uploadImages } from "../../application/panoramas/upload-images.js";
import type { Email } from "../../domain/accounts/account.js";
import { credits } from "../../domain/credits/credits.js";
import type { AccountId } from "../../domain/ids.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { fail } from "../../domain/tasks/task.js";
import type { Stores } from "./stores.js";

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
const CREATION = {
  policy: PANORAMA_POLICY,
  submissionDeadlineMilliseconds: 60_000,
  queueDeadlineMilliseconds: 300_000,
  queueMax: 1_000,
};
const RETENTION = { retentionMilliseconds: DAY_MILLISECONDS, leaseMilliseconds: 120_000 };

/**
 * Uploads, creations and deletions of two instances at the same time, on the stores of one database: what
 * ReferenceStore and TaskStore must do together. `technology` completes the suite's name.
 */
export const describeConcurrentUploads = (
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "references" | "tasks" | "close">>,
) =>
  describe(`concurrent uploads, creations and deletions ${technology}`, () => {
    const soon = secondsAfter(noon, 600);
    let stores: Awaited<ReturnType<typeof makeStores>>;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
    });
    afterEach(() => stores.close());

    it("never loses an image that an upload or a creation refers to, under concurrent deletions", async () => {
      const { accounts, references, tasks } = stores;
      const clock = new HandClock();
      const ports = {
        ...memoryPorts(clock),
        accounts,
        references,
        tasks,
        generationTime: generationTime(),
      };
      const { ids, storage, provider } = ports;
      const create = createPanorama(ports, CREATION);
      const upload = uploadImages(ports, { policy: PANORAMA_POLICY, referenceRetentionHours: 24 });
      // Deletions are slow, as in a bucket, so that uploads and creations happen in between.
      const slowStorage = { delete: slowly((name: Parameters<typeof storage.delete>[0]) => storage.delete(name)) };
      const deleteExpired = () => deleteExpiredReferences({ ...ports, storage: slowStorage }, RETENTION)();
      const owners: AccountId[] = [];
      for (let n = 0; n < 4; n += 1) {
        const id = ids.accountId();
        const order = { id: ids.orderId(), accountId: id, credits: credits(10_000), createdAt: clock.now() };
        const account = { id, email: `${id}@example.com` as Email, createdAt: clock.now() };
        await accounts.open(account, { order: { ...order, state: "paid", paidAt: clock.now() } });
        owners.push(id);
      }
      const isMissing = async (url: string) => {
        const name = storage.nameOf(url);
        return name === undefined || (await storage.read(name)).isErr();
      };
      let missing = 0;
      let accepted = 0;
      let refused = 0;
      provider.submit = async ({ taskId: id, request }) => {
        // The moment when a provider reads the images.
        for (const url of request.imageUrls) if (await isMissing(url)) missing += 1;
        accepted += 1;
        return accepted % 3 === 0 ? err({ kind: "refused", reason: "no" }) : ok(`upstream-${id}`);
      };
      let working = owners.length;
      const customer = async (id: AccountId, seed: number) => {
        for (let n = 0; n < 25; n += 1) {
          const bytes = image(`content ${(n + seed) % 2}`);
          const { urls } = (
            await upload(id, [{ declaredType: undefined, sizeBytes: 9, read: async () => bytes }])
          )._unsafeUnwrap();
          const result = await create(id, aCreationRequest({ image_urls: urls }));
          if (result.isErr()) {
            refused += result.error.kind === "invalid_request" ? 1 : 0;
            continue;
          }
          const { task } = result.value;
          if (n % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
          for (const used of task.request.imageUrls) {
            if (await isMissing(used)) missing += 1;
          }
          if (task.state === "submitted") {
            const failed = fail(task, "generation_failed", clock.now());
            (await tasks.move(task, failed, undefined))._unsafeUnwrap();
          }
          (await tasks.delete(task.id, id, clock.now()))._unsafeUnwrap();
        }
      };
      const cleaner = async () => {
        let deleted = 0;
        while (working > 0) {
          await clock.advance(DAY_MILLISECONDS + 3_600_000); // everything unused has expired
          deleted += await deleteExpired();
        }
        return deleted;
      };
      const customers = owners.map((id, seed) => customer(id, seed).finally(() => (working -= 1)));
      const [deletedByOne, deletedByOther] = await Promise.all([cleaner(), cleaner(), ...customers]);
      expect(missing).toBe(0);
      expect(accepted > 10).toBe(true);
      expect(deletedByOne + deletedByOther > 0).toBe(true);
      expect(accepted + refused <= 100).toBe(true);

      for (let n = 0; n < 2; n += 1) {
        await clock.advance(DAY_MILLISECONDS + 3_600_000);
        await deleteExpired();
      }
      expect(await references.claimDeletable(secondsAfter(clock.now(), 1e6), soon, 9)).toEqual([]);
    });
  });

const slowly =
  <Arguments extends unknown[], Answer>(call: (...args: Arguments) => Promise<Answer>) =>
  async (...args: Arguments): Promise<Answer> => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return call(...args);
  };
