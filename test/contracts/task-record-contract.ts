import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  anAccount,
  anApiKey,
  anEndpoint,
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
import { inChangingZones } from "../../adapters/contracts/support/in-changing-zones.js";
import type { OperatorStore } from "../../application/ports/stores/operator-store.js";
import type { TaskId } from "../../domain/ids.js";
import { thumbnailNameOf } from "../../domain/images/object-name.js";
import { RATE_LIMITS } from "../../domain/panorama-policy.js";
import { deletedByKey } from "../../domain/tasks/out-of-sight.js";
import { fail, finish, withImage } from "../../domain/tasks/task.js";
import type { Stores } from "./stores.js";
import { end, taskSteps } from "./task-steps.js";

type RecordStores = Stores & { readonly operators: OperatorStore };

/**
 * What operators read about single tasks, keys, orders and endpoints (application/ports/stores/operator-store.ts), and
 * what they hide.
 */
export const describeTaskRecords = (technology: string, makeStores: () => Promise<RecordStores>) =>
  describe(`OperatorStore, single records ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    let stores: RecordStores;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      await stores.accounts.open(anAccount(), { order: aPaidOrder(), key: anApiKey() });
      await stores.accounts.open(anAccount({ id: other }));
    });
    afterEach(() => stores.close());

    const steps = taskSteps(() => stores.tasks);
    const { open, move } = steps;
    const submitted = async (task = aSubmittingTask()) => steps.submitted(await open(task));
    const kept = async (task = aSubmittingTask()) => steps.saved(await open(task));

    it("keeps the upstream id, the time of the submission and the detail of a task that fails later", async () => {
      const running = await submitted();
      const failed = { ...fail(running, "generation_failed", end), detail: "the model is on fire" };
      await move(running, failed);
      expect(await stores.operators.record(running.slug)).toMatchObject({
        task: { id: running.id, state: "failed", detail: "the model is on fire" },
        upstreamTaskId: running.upstreamTaskId,
        times: { submittedAt: secondsAfter(noon, 1) },
        deleted: undefined,
        hidden: undefined,
      });
    });

    it("stores generatedAt and savedAt", async () => {
      const { id } = await kept();
      const record = await stores.operators.record(id);
      expect(record?.times.generatedAt instanceof Date).toBe(true);
      expect(record?.times.savedAt instanceof Date).toBe(true);
      expect(record?.times.expiredAt).toBeUndefined();
      expect(await stores.operators.record(taskId(404))).toBeUndefined();
    });

    it("returns who deleted a task, and when", async () => {
      const { id } = await kept();
      const by = deletedByKey(apiKeyId(1));
      (await stores.tasks.delete(id, owner, end, by))._unsafeUnwrap();
      expect(await stores.operators.record(id)).toMatchObject({ isDeleted: true, deleted: { at: end, by } });
    });

    it("returns the ledger entries and deliveries of one task only", async () => {
      (await stores.endpoints.insert(anEndpoint(), () => ok(undefined)))._unsafeUnwrap();
      const first = await kept();
      const second = aSubmittingTask({ id: taskId(2), apiKeyId: apiKeyId(1) });
      await open(second);
      await move(second, fail(second, "refused", end));
      const kinds = async (id: typeof first.id) => (await stores.ledger.ofTask(id)).map(({ kind }) => kind);
      expect(await kinds(first.id)).toEqual(["reservation"]);
      expect(await kinds(second.id)).toEqual(["reservation", "refund"]);
      const told = await stores.deliveries.ofTask(owner, first.id);
      expect(told.map(({ event }) => event.type)).toEqual(["panorama.succeeded", "panorama.saved"]);
      expect(await stores.deliveries.ofTask(other, first.id)).toEqual([]);
    });

    it("filters the tasks of an account by key, state, reason and time", async () => {
      await kept();
      const second = aSubmittingTask({ id: taskId(2), apiKeyId: apiKeyId(1), reservedAt: secondsAfter(noon, 60) });
      await open(second);
      await move(second, fail(second, "content_refused", end));
      const found = async (filter: Parameters<OperatorStore["tasks"]>[3]) =>
        (await stores.operators.tasks(owner, 9, undefined, filter)).map(({ task }) => task.id);
      expect(await found({})).toEqual([taskId(2), taskId(1)]);
      expect(await found({ key: apiKeyId(1) })).toEqual([taskId(2)]);
      expect(await found({ state: "succeeded" })).toEqual([taskId(1)]);
      expect(await found({ reason: "content_refused" })).toEqual([taskId(2)]);
      expect(await found({ reason: "generation_failed" })).toEqual([]);
      expect(await found({ from: secondsAfter(noon, 60) })).toEqual([taskId(2)]);
      expect(await found({ until: secondsAfter(noon, 60) })).toEqual([taskId(1)]);
    });

    it("hides a public task from others until it is shown again, despite changes by its owner", async () => {
      const task = await kept(aSubmittingTask({ request: aCreationRequest({ visibility: "public" }) }));
      const hidden = { at: end, reason: "Shows a private person", by: "ann" };
      const told = async () => (await stores.tasks.find(task.id, owner))?.hiddenReason;
      const visibility = async () => (await stores.tasks.findBySlug(task.slug))?.request.visibility;
      const listed = async () => (await stores.tasks.listPublic(9, undefined)).length;
      expect((await stores.tasks.hide(task.id, undefined)).isErr()).toBe(true);
      expect(await listed()).toBe(1);
      (await stores.tasks.hide(task.id, hidden))._unsafeUnwrap();
      expect([await visibility(), await listed(), await told()]).toEqual(["private", 0, hidden.reason]);
      expect(await stores.operators.record(task.id)).toMatchObject({ hidden });
      const refused = err({ kind: "hidden", reason: hidden.reason });
      expect(await stores.tasks.setVisibility(task.id, owner, "public")).toEqual(refused);
      // The second operator gives another reason.
      (await stores.tasks.hide(task.id, { ...hidden, reason: "Advertising" }))._unsafeUnwrap();
      (await stores.tasks.hide(task.id, undefined))._unsafeUnwrap();
      expect([await visibility(), await listed(), await told()]).toEqual(["public", 1, undefined]);
      // What its owner makes private while it is hidden is not public when it is shown again.
      (await stores.tasks.hide(task.id, hidden))._unsafeUnwrap();
      expect(await stores.tasks.setVisibility(task.id, owner, "private")).toEqual(ok(undefined));
      (await stores.tasks.hide(task.id, undefined))._unsafeUnwrap();
      expect(await visibility()).toBe("private");
      // Its owner may have made it private because it was reported. It must not be public again.
      (await stores.tasks.hide(task.id, hidden))._unsafeUnwrap();
      expect(await stores.tasks.setVisibility(task.id, owner, "public")).toEqual(refused);
      (await stores.tasks.hide(task.id, undefined))._unsafeUnwrap();
      expect(await visibility()).toBe("private");
    });

    it("keeps a task hidden that background work moves meanwhile", async () => {
      const running = await submitted(aSubmittingTask({ request: aCreationRequest({ visibility: "public" }) }));
      (await stores.tasks.hide(running.id, { at: end, reason: "why" }))._unsafeUnwrap();
      const generated = finish(running, "https://provider.example.com/1.jpg");
      await move(running, generated, end);
      const found = await stores.tasks.find(running.id, owner);
      expect(found).toMatchObject({ state: "generated", hiddenReason: "why", request: { visibility: "private" } });
    });

    it("returns true for images and temporary URLs of hidden tasks", async () => {
      const task = await kept();
      const name = anImageName(1);
      const asked = async () =>
        Promise.all(
          [{ name }, { name: thumbnailNameOf(name) }, { temporaryUrl: task.image.temporaryUrl }].map((image) =>
            stores.tasks.isHiddenImage(image),
          ),
        );
      expect(await asked()).toEqual([false, false, false]);
      (await stores.tasks.hide(task.id, { at: end, reason: "why" }))._unsafeUnwrap();
      expect(await asked()).toEqual([true, true, true]);
      expect(await stores.tasks.isHiddenImage({ name: anImageName(2) })).toBe(false);
      (await stores.tasks.hide(task.id, undefined))._unsafeUnwrap();
      expect(await asked()).toEqual([false, false, false]);
    });

    it("finds a task by its image, until it is deleted", async () => {
      const task = await kept();
      expect(await stores.tasks.findByImage(anImageName(1))).toEqual(task);
      expect(await stores.tasks.findByImage(thumbnailNameOf(anImageName(1)))).toBeUndefined();
      expect(await stores.tasks.findByImage(anImageName(2))).toBeUndefined();
      (await stores.tasks.hide(task.id, { at: end, reason: "why" }))._unsafeUnwrap();
      expect(await stores.tasks.findByImage(anImageName(1))).toMatchObject({ id: task.id, hiddenReason: "why" });
      (await stores.tasks.delete(task.id, owner, end))._unsafeUnwrap();
      expect(await stores.tasks.findByImage(anImageName(1))).toBeUndefined();
    });

    it("gives a stored image its next name when its task is hidden, and works on it when nobody has leased it", async () => {
      const { tasks } = stores;
      const task = await kept(aSubmittingTask({ request: aCreationRequest({ visibility: "public" }) }));
      const hidden = { at: end, reason: "why" };
      const [first, later, until] = [9, 40, 60].map((seconds) => secondsAfter(end, seconds)) as [Date, Date, Date];
      const claimed = async (now: Date) =>
        (await tasks.claim("store", now, until, 9)).map((lease) => {
          expect(lease.task.image.imageName).toBe(anImageName(1));
          return lease;
        });
      expect(await claimed(first)).toEqual([]);
      await move(task, task, end);
      const [lease] = await claimed(end);
      if (lease === undefined) throw new Error("it is not due");
      expect(await tasks.hideAll(owner, { ...hidden, at: first }, 9, () => anImageName(2))).toBe(1);
      (await tasks.hide(task.id, { ...hidden, at: first }, () => anImageName(3)))._unsafeUnwrap();
      expect(await claimed(later)).toEqual([]);
      // The holder of the lease does not know the next name.
      await move(lease, task);
      const [again] = await claimed(later);
      if (again === undefined) throw new Error("it is not due again");
      expect(again.task.image.nextName).toBe(anImageName(2));
      const renamed = withImage(task, { ...task.image, imageName: anImageName(2) });
      await move(again, renamed);
      const found = await tasks.find(task.id, owner);
      if (found?.state !== "succeeded") throw new Error("it has not succeeded");
      expect(found.image).toEqual({ ...task.image, imageName: anImageName(2) });
      const [listed] = await tasks.list(owner, 1, undefined, {});
      expect(listed).toMatchObject({ image: { imageName: anImageName(2) } });
      expect(await tasks.claim("store", secondsAfter(until, 60), secondsAfter(until, 90), 9)).toEqual([]);
      expect(await tasks.isHiddenImage({ name: anImageName(2) })).toBe(true);

      // An image that is not stored yet has a name that nobody else knows.
      const running = await submitted(aSubmittingTask({ id: taskId(2) }));
      (await tasks.hide(running.id, hidden, () => anImageName(3)))._unsafeUnwrap();
      expect(await tasks.claim("store", secondsAfter(until, 60), secondsAfter(until, 90), 9)).toEqual([]);
    });

    it("renames a task that is hidden after the lease of a worker that has not ended", async () => {
      const { tasks } = stores;
      const task = await kept();
      await move(task, task, end);
      const [late] = await tasks.claim("store", end, secondsAfter(end, 60), 9);
      if (late === undefined) throw new Error("it is not due");
      const hiding = { at: secondsAfter(end, 61), reason: "why" };
      (await tasks.hide(task.id, hiding, () => anImageName(2)))._unsafeUnwrap();
      await move(late, task);
      const [renaming] = await tasks.claim("store", secondsAfter(end, 61), secondsAfter(end, 120), 9);
      expect(renaming?.task.image.nextName).toBe(anImageName(2));
    });

    it("erases a deleted task under the present and the next name of its image", async () => {
      const { tasks, operators } = stores;
      const until = secondsAfter(end, 60);
      const deletions = [
        (id: TaskId) => tasks.delete(id, owner, end).then((hidden) => hidden._unsafeUnwrap()),
        () => operators.eraseTasks(owner, undefined, 9, end),
      ];
      for (const [n, remove] of deletions.entries()) {
        const task = await kept(aSubmittingTask({ id: taskId(n) }));
        const nextName = anImageName(10 + n);
        (await tasks.hide(task.id, { at: end, reason: "why" }, () => nextName))._unsafeUnwrap();
        await remove(task.id);
        expect(await tasks.wantedImage(task.id)).toBeUndefined();
        expect(await tasks.claim("store", end, until, 9)).toEqual([]);
        const [lease] = await tasks.claim("erase", end, until, 9);
        expect(lease?.task.image).toEqual({ ...task.image, nextName });
      }
    });

    it("hides everything public of one account, a page at a time", async () => {
      const request = aCreationRequest({ visibility: "public" });
      for (const n of [1, 2, 3]) await open(aSubmittingTask({ id: taskId(n), request }));
      await open(aSubmittingTask({ id: taskId(4) })); // private
      const third = accountId(3);
      const order = aPaidOrder({ id: orderId(3), accountId: third });
      await stores.accounts.open(anAccount({ id: third }), { order });
      await open(aSubmittingTask({ id: taskId(5), accountId: third, request }));
      const hide = () => stores.tasks.hideAll(owner, { at: end, reason: "spam" }, 2, () => anImageName(9));
      expect([await hide(), await hide(), await hide()]).toEqual([2, 1, 0]);
      const shown = async (id: typeof owner, n: number) =>
        (await stores.tasks.find(taskId(n), id))?.request.visibility === "public";
      expect(await Promise.all([1, 2, 3].map((n) => shown(owner, n)))).toEqual([false, false, false]);
      expect(await shown(third, 5)).toBe(true);
      expect((await stores.tasks.find(taskId(4), owner))?.hiddenReason).toBeUndefined();
    });

    it("suspends an account until it is resumed: its keys are refused, and it opens no task", async () => {
      const requests = stores.countersAt({ now: () => noon, sleep: async () => {} }, RATE_LIMITS).apiRequests;
      const admitted = async () => {
        const result = await requests.admit(anApiKey().secretSha256, "read");
        return result.isOk() ? "admitted" : result.error.kind;
      };
      const opened = async (n: number) => {
        const task = aSubmittingTask({ id: taskId(n) });
        const decide = (standing: Parameters<typeof openATask>[0]) => openATask(standing, task, task.reservedAt);
        const result = await stores.tasks.open({ account: owner, dueAt: end, decide });
        return result.isOk() ? "opened" : result.error.kind;
      };
      const live = async () => (await stores.events.watch([], [apiKeyId(1)])).liveKeys.size;
      expect([await admitted(), await opened(1), await live()]).toEqual(["admitted", "opened", 1]);
      await stores.operators.suspend(owner, { at: end, reason: "Publishes private persons" });
      const suspension = { at: end, reason: "Publishes private persons" };
      expect((await stores.accounts.find(owner))?.suspension).toEqual(suspension);
      expect((await stores.operators.account(owner))?.account.suspension).toEqual(suspension);
      expect([await admitted(), await opened(2), await live()]).toEqual(["account_suspended", "account_suspended", 0]);
      const write = await requests.admit(anApiKey().secretSha256, "write");
      expect(write).toEqual(err({ kind: "account_suspended", reason: suspension.reason }));
      await stores.operators.suspend(owner, undefined);
      expect((await stores.accounts.find(owner))?.suspension).toBeUndefined();
      expect([await admitted(), await opened(2), await live()]).toEqual(["admitted", "opened", 1]);
    });

    it("finds a key by the digest of its secret", async () => {
      const found = await stores.operators.keyWithSecret(anApiKey().secretSha256);
      expect([found?.id, found?.prefix]).toEqual([apiKeyId(1), "sk-AbCdEfGh"]);
      expect(await stores.operators.keyWithSecret("0".repeat(64))).toBe(undefined);
    });
  });
