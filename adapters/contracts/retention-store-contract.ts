import { ok } from "neverthrow";
import { referenceImageName } from "../../domain/images/object-name.js";
import type { Retention } from "../../domain/images/retention.js";
import { keep, keepWithoutThumbnail, type UploadingImage } from "../../domain/images/storage-status.js";
import { finish, submit, succeed, withImage } from "../../domain/tasks/task.js";
import {
  accountId,
  aNativeSize,
  anAccount,
  anImageName,
  aPaidOrder,
  aReservedTask,
  noon,
  openATask,
  secondsAfter,
  taskId,
} from "./support/builders.js";
import { expect } from "./support/expect.js";
import { inChangingZones } from "./support/in-changing-zones.js";
import type { Stores } from "./support/stores.js";
import type { TestFunctions } from "./support/test-functions.js";

type RetentionStores = Pick<Stores, "accounts" | "references" | "retentions" | "tasks" | "close">;

/** What every RetentionStore must do (application/ports/stores/retention-store.ts). */
export const describeRetentionStore = (
  { describe, it, beforeEach, afterEach }: TestFunctions,
  technology: string,
  makeStores: () => Promise<RetentionStores>,
): void =>
  describe(`RetentionStore ${technology}`, () => {
    const owner = accountId(1);
    let stores: RetentionStores;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
    });
    afterEach(() => stores.close());

    it("stores the retention of each kind, for ever included", async () => {
      const { retentions } = stores;
      expect(await retentions.find("finished_images")).toBeUndefined();
      const seen: (Retention | undefined)[] = [];
      const changeTo = (next: Retention) =>
        retentions.change("finished_images", (stored) => {
          seen.push(stored);
          return next;
        });
      const confirmed = { inForce: null, confirmed: { time: 36 * 86_400_000, from: secondsAfter(noon, 1) } };
      const hundredYears = { inForce: 36_500 * 86_400_000 };
      expect(await changeTo({ inForce: null })).toEqual({ inForce: null });
      expect(await changeTo(confirmed)).toEqual(confirmed);
      expect(await retentions.find("finished_images")).toEqual(confirmed);
      expect(await changeTo(hundredYears)).toEqual(hundredYears);
      expect(await retentions.find("finished_images")).toEqual(hundredYears);
      expect(await retentions.find("reference_images")).toBeUndefined();
      expect(seen[0]).toBeUndefined();
      expect(seen.slice(-2)).toEqual([{ inForce: null }, confirmed]);
    });

    it("lets concurrent changes wait for each other", async () => {
      const raise = () =>
        stores.retentions.change("reference_images", (stored) => ({ inForce: (stored?.inForce ?? 0) + 1 }));
      await stores.retentions.change("reference_images", () => ({ inForce: 0 }));
      await Promise.all(Array.from({ length: 20 }, raise));
      expect(await stores.retentions.find("reference_images")).toEqual({ inForce: 20 });
    });

    it("counts the kept images of tasks that succeeded before a time", async () => {
      const { accounts, tasks, retentions } = stores;
      await accounts.open(anAccount(), { order: aPaidOrder() });
      for (const [n, change] of [keep, keepWithoutThumbnail, (image: UploadingImage) => image, keep].entries()) {
        const task = aReservedTask({ id: taskId(n) });
        (
          await tasks.open({ account: owner, dueAt: noon, decide: (standing) => openATask(standing, task, noon) })
        )._unsafeUnwrap();
        const submitted = submit(task, `upstream-${n}`, noon);
        (await tasks.move(task, submitted, noon))._unsafeUnwrap();
        const generated = finish(submitted, `https://p.example/${n}`);
        (await tasks.move(submitted, generated, noon))._unsafeUnwrap();
        const succeeded = succeed(generated, anImageName(n), aNativeSize, secondsAfter(noon, n));
        (await tasks.move(generated, succeeded, noon))._unsafeUnwrap();
        const image = change(succeeded.image as UploadingImage);
        (await tasks.move(succeeded, withImage(succeeded, image), undefined))._unsafeUnwrap();
      }
      const older = (seconds: number) => retentions.olderThan("finished_images", secondsAfter(noon, seconds));
      expect(await older(0)).toEqual({ count: 0 });
      expect(await older(3)).toEqual({ count: 2, oldest: noon, newest: secondsAfter(noon, 1) });
      expect(await older(4)).toEqual({ count: 3, oldest: noon, newest: secondsAfter(noon, 3) });
      (await tasks.hide(taskId(3), owner, noon))._unsafeUnwrap();
      expect((await older(4)).count).toBe(2);
    });

    it("counts the unused images that were uploaded before a time, but not those of closed accounts", async () => {
      const { accounts, references, retentions } = stores;
      await accounts.open(anAccount());
      for (const [n, at] of [new Date(0), noon, secondsAfter(noon, 5)].entries()) {
        const name = referenceImageName(`unguessable-${String(n).padStart(10, "0")}`, "image/png");
        (
          await references.add(owner, [{ content: `content ${n}`, countedBytes: 1, name }], at, () => ok(undefined))
        )._unsafeUnwrap();
      }
      const older = (seconds: number) => retentions.olderThan("reference_images", secondsAfter(noon, seconds));
      expect(await older(0)).toEqual({ count: 0 });
      expect(await older(5)).toEqual({ count: 1, oldest: noon, newest: noon });
      expect(await older(6)).toEqual({ count: 2, oldest: noon, newest: secondsAfter(noon, 5) });
    });
  });
