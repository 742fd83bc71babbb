import { err, ok } from "neverthrow";
import type { OperatorStore } from "../../application/ports/stores/operator-store.js";
import type { Standing } from "../../domain/credits/standing.js";
import { keep } from "../../domain/images/storage-status.js";
import { deletedByKey } from "../../domain/tasks/out-of-sight.js";
import { fail, finish, submit, succeed, withImage } from "../../domain/tasks/task.js";
import {
  aCreationRequest,
  accountId,
  aNativeSize,
  anAccount,
  anApiKey,
  anEndpoint,
  anImageName,
  aPaidOrder,
  aPendingOrder,
  apiKeyId,
  aReservedTask,
  endpointId,
  noon,
  openATask,
  orderId,
  secondsAfter,
  taskId,
} from "./support/builders.js";
import { expect } from "./support/expect.js";
import { inChangingZones } from "./support/in-changing-zones.js";
import type { Stores } from "./support/stores.js";
import type { TestFunctions } from "./support/test-functions.js";

type RecordStores = Stores & { readonly operators: OperatorStore };

/** What operators read about single tasks, keys, orders and endpoints (application/ports/stores/operator-store.ts). */
export const describeTaskRecords = (
  { describe, it, beforeEach, afterEach }: TestFunctions,
  technology: string,
  makeStores: () => Promise<RecordStores>,
): void =>
  describe(`OperatorStore, single records ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    const end = secondsAfter(noon, 30);
    let stores: RecordStores;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      const key = anApiKey({ prefix: "sk-AbCdEfGh" });
      await stores.accounts.open(anAccount(), { order: aPaidOrder(), key });
      await stores.accounts.open(anAccount({ id: other }));
    });
    afterEach(() => stores.close());

    const moved = async <T>(result: Promise<{ isOk(): boolean }>, next: T): Promise<T> => {
      expect((await result).isOk()).toBe(true);
      return next;
    };
    const open = async (task: ReturnType<typeof aReservedTask>) => {
      const decide = (standing: Standing) => openATask(standing, task, task.reservedAt);
      (await stores.tasks.open({ account: task.accountId, dueAt: end, decide }))._unsafeUnwrap();
    };
    const submitted = async (task = aReservedTask()) => {
      await open(task);
      const next = submit(task, `upstream-${task.id}`, secondsAfter(noon, 1));
      return moved(stores.tasks.move(task, next, end), next);
    };
    const kept = async (task = aReservedTask()) => {
      const running = await submitted(task);
      const generated = finish(running, "https://provider.example.com/1.jpg");
      await moved(stores.tasks.move(running, generated, end), generated);
      const succeeded = succeed(generated, anImageName(1), aNativeSize, end);
      await moved(stores.tasks.move(generated, succeeded, end), succeeded);
      if (succeeded.image.status !== "uploading") throw new Error("the image is not new");
      const saved = withImage(succeeded, keep(succeeded.image));
      return moved(stores.tasks.move(succeeded, saved, undefined), saved);
    };

    it("keeps the upstream id, the time of the submission and the detail of a task that fails later", async () => {
      const running = await submitted();
      const failed = { ...fail(running, "generation_failed", end), detail: "the model is on fire" };
      await moved(stores.tasks.move(running, failed, undefined), failed);
      expect(await stores.operators.record(running.slug)).toMatchObject({
        task: { id: running.id, state: "failed", detail: "the model is on fire" },
        upstreamTaskId: running.upstreamTaskId,
        times: { submittedAt: secondsAfter(noon, 1) },
        deleted: undefined,
        withheld: undefined,
      });
    });

    it("records when the result was there and the image was stored", async () => {
      const { id } = await kept();
      const record = await stores.operators.record(id);
      expect(record?.times.generatedAt instanceof Date).toBe(true);
      expect(record?.times.savedAt instanceof Date).toBe(true);
      expect(record?.times.expiredAt).toBeUndefined();
      expect(await stores.operators.record(taskId(404))).toBeUndefined();
    });

    it("tells who has deleted a task, and when", async () => {
      const { id } = await kept();
      const by = deletedByKey(apiKeyId(1));
      (await stores.tasks.hide(id, owner, end, by))._unsafeUnwrap();
      expect(await stores.operators.record(id)).toMatchObject({ isHidden: true, deleted: { at: end, by } });
    });

    it("has the ledger entries and the deliveries of a task, and of no other", async () => {
      (await stores.endpoints.insert(anEndpoint(), () => ok(undefined)))._unsafeUnwrap();
      const first = await kept();
      const second = aReservedTask({ id: taskId(2), apiKeyId: apiKeyId(1) });
      await open(second);
      await moved(stores.tasks.move(second, fail(second, "refused", end), undefined), undefined);
      const kinds = async (id: typeof first.id) => (await stores.ledger.ofTask(id)).map(({ kind }) => kind);
      expect(await kinds(first.id)).toEqual(["reservation"]);
      expect(await kinds(second.id)).toEqual(["reservation", "refund"]);
      const told = await stores.deliveries.ofTask(owner, first.id);
      expect(told.map(({ event }) => event.type)).toEqual(["panorama.succeeded", "panorama.saved"]);
      expect(await stores.deliveries.ofTask(other, first.id)).toEqual([]);
    });

    it("filters the tasks of an account by key, state, reason and time", async () => {
      await kept();
      const second = aReservedTask({ id: taskId(2), apiKeyId: apiKeyId(1), reservedAt: secondsAfter(noon, 60) });
      await open(second);
      await moved(stores.tasks.move(second, fail(second, "content_refused", end), undefined), undefined);
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

    it("withholds a public task from others until it is shown again, whatever its owner does", async () => {
      const task = await kept(aReservedTask({ request: aCreationRequest({ visibility: "public" }) }));
      const withheld = { at: end, reason: "Shows a private person" };
      const visibility = async () => (await stores.tasks.findBySlug(task.slug))?.request.visibility;
      const listed = async () => (await stores.tasks.listPublic(9, undefined)).length;
      expect((await stores.tasks.withhold(task.id, undefined)).isErr()).toBe(true);
      expect(await listed()).toBe(1);
      (await stores.tasks.withhold(task.id, withheld))._unsafeUnwrap();
      expect([await visibility(), await listed()]).toEqual(["private", 0]);
      expect(await stores.operators.record(task.id)).toMatchObject({ withheld });
      const refused = err({ kind: "withheld", reason: withheld.reason });
      expect(await stores.tasks.setVisibility(task.id, owner, "public")).toEqual(refused);
      expect(await stores.tasks.setVisibility(task.id, owner, "private")).toEqual(ok(undefined));
      (await stores.tasks.withhold(task.id, undefined))._unsafeUnwrap();
      expect([await visibility(), await listed()]).toEqual(["public", 1]);
      expect(await stores.tasks.setVisibility(task.id, owner, "private")).toEqual(ok(undefined));
      // There is nothing to hide of a private one.
      expect((await stores.tasks.withhold(task.id, withheld)).isErr()).toBe(true);
    });

    for (const visibility of ["public", "private"] as const) {
      it(`gives a ${visibility} task its visibility back after a review`, async () => {
        const task = await kept(aReservedTask({ request: aCreationRequest({ visibility }) }));
        const stored = async () => (await stores.tasks.findBySlug(task.slug))?.request.visibility;
        const listed = async () => (await stores.tasks.listPublic(9, undefined)).length;
        const reviews = async () => (await stores.operators.reviews(9)).map(({ task: { id }, since }) => [id, since]);
        for (const now of [end, secondsAfter(end, 9)]) await stores.tasks.holdForReview(task.id, now);
        expect(await reviews()).toEqual([[task.id, end]]);
        expect([await stored(), await listed()]).toEqual(["private", 0]);
        expect((await stores.tasks.setVisibility(task.id, owner, "public")).isErr()).toBe(true);
        (await stores.tasks.withhold(task.id, undefined))._unsafeUnwrap();
        expect([await stored(), await listed()]).toEqual([visibility, visibility === "public" ? 1 : 0]);

        await stores.tasks.holdForReview(task.id, end);
        (await stores.tasks.withhold(task.id, { at: end, reason: "Shows a private person" }))._unsafeUnwrap();
        expect(await reviews()).toEqual([]);
        expect([await stored(), await listed()]).toEqual(["private", 0]);
        (await stores.tasks.withhold(task.id, undefined))._unsafeUnwrap();
        expect(await stored()).toBe(visibility);
      });
    }

    it("finds keys by prefix and digest, and the account of a prefix", async () => {
      const [key] = await stores.keys.list(owner);
      expect(key?.prefix).toBe("sk-AbCdEfGh");
      for (const searched of ["sk-AbCdEfGh", anApiKey().secretSha256]) {
        expect((await stores.operators.findKeys(searched)).map(({ id }) => id)).toEqual([apiKeyId(1)]);
      }
      expect(await stores.operators.findKeys("sk-AbCdEfGi")).toEqual([]);
      const accounts = await stores.operators.searchAccounts("sk-AbCdEfGh", 9);
      expect(accounts.map(({ account }) => account.id)).toEqual([owner]);
    });

    it("lists orders that are not paid and endpoints that fail, newest first", async () => {
      const late = aPendingOrder({ id: orderId(3), accountId: other, createdAt: end });
      for (const order of [aPendingOrder({ id: orderId(2) }), late]) {
        await stores.orders.insert(order);
      }
      const orders = async (limit: number) =>
        (await stores.orders.listAll({ isPending: true }, limit, undefined)).map(({ id }) => id);
      expect(await orders(9)).toEqual([orderId(3), orderId(2)]);
      expect(await orders(1)).toEqual([orderId(3)]);
      const failing = anEndpoint({ id: endpointId(2), failingSince: noon });
      for (const endpoint of [anEndpoint(), failing]) {
        (await stores.endpoints.insert(endpoint, () => ok(undefined)))._unsafeUnwrap();
      }
      expect((await stores.operators.failingEndpoints(9)).map(({ id }) => id)).toEqual([failing.id]);
    });
  });
