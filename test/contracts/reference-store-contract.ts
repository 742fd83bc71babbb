import { err, ok, type Result } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  anAccount,
  aPaidOrder,
  noon,
  openATask,
  orderId,
  secondsAfter,
  taskId,
} from "../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../adapters/contracts/support/in-changing-zones.js";
import type { NewReference } from "../../application/ports/stores/reference-store.js";
import { type ObjectName, referenceImageName } from "../../domain/images/object-name.js";
import type { UploadStanding } from "../../domain/images/reference-image.js";
import type { Task } from "../../domain/tasks/task.js";
import type { Stores } from "./stores.js";
import { taskSteps } from "./task-steps.js";

/** What every ReferenceStore, together with its TaskStore, must do (application/ports/stores/reference-store.ts). */
export const describeReferenceStore = (
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "ledger" | "references" | "tasks" | "close">>,
) =>
  describe(`ReferenceStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    const nameOf = (n: number) => referenceImageName(`unguessable-${String(n).padStart(10, "0")}`, "image/png");
    const file = (content: string, n: number, countedBytes = 100): NewReference => ({
      content,
      countedBytes,
      name: nameOf(n),
    });
    const always = () => ok(undefined);
    const soon = secondsAfter(noon, 600);
    let stores: Pick<Stores, "accounts" | "ledger" | "references" | "tasks" | "close">;

    const add = (files: readonly NewReference[], at = noon, account = owner) =>
      stores.references.add(account, files, at, always);
    const added = async (...parameters: Parameters<typeof add>) => (await add(...parameters))._unsafeUnwrap();
    const create = (n: number, names: readonly ObjectName[], account = owner) => {
      const request = aCreationRequest({ image_urls: names.map((name) => `https://objects.example/${name}`) });
      const draft = { id: taskId(n), slug: `slug${String(n).padStart(12, "0")}` as Task["slug"], request };
      const references = new Map(names.map((name, index) => [index, name]));
      return stores.tasks.open({
        account,
        dueAt: soon,
        decide: (standing) => openATask(standing, draft, noon),
        references,
      });
    };
    const created = async (...parameters: Parameters<typeof create>) => {
      const { task } = (await create(...parameters))._unsafeUnwrap();
      if (task.state !== "submitting") throw new Error(task.state);
      return task;
    };
    const { failed, succeeded } = taskSteps(() => stores.tasks);
    /** The names that are deletable after everything that was uploaded before `before` has expired. */
    const deletable = async (before: Date) => {
      await stores.references.expire(before, noon, 9);
      return (await stores.references.claimDeletable(noon, noon, 9)).sort();
    };
    const unused = async (account = owner) => (await stores.references.standing(account)).unusedBytes;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      await stores.accounts.open(anAccount(), { order: aPaidOrder() });
      const order = aPaidOrder({ id: orderId(2), accountId: other });
      await stores.accounts.open(anAccount({ id: other }), { order });
    });
    afterEach(() => stores.close());

    it("returns the standing that decides about an upload, and throws for an unknown account", async () => {
      const { accounts, references } = stores;
      await accounts.open(anAccount({ id: accountId(3) }));
      expect(await references.standing(owner)).toEqual({ credits: 100, hasPaidOrder: true, unusedBytes: 0 });
      expect(await references.standing(accountId(3))).toEqual({ credits: 0, hasPaidOrder: false, unusedBytes: 0 });
      await added([file("a", 1), file("b", 2, 30)]);
      expect(await unused()).toBe(130);
      await expect(references.standing(accountId(9))).rejects.toThrow();
      await expect(references.add(accountId(9), [file("a", 1)], noon, always)).rejects.toThrow();
    });

    it("gives equal contents one name, within an upload, later and for other accounts", async () => {
      expect(await added([file("b", 1), file("a", 2), file("b", 3)])).toEqual([1, 2, 1].map(nameOf));
      expect(await added([file("c", 4), file("a", 5)])).toEqual([4, 2].map(nameOf));
      expect(await added([file("a", 6)], noon, other)).toEqual([nameOf(2)]);
      expect([await unused(), await unused(other)]).toEqual([300, 100]);
    });

    it("records nothing if the upload is refused, and asks with the bytes that it would add", async () => {
      const asked: [UploadStanding, number][] = [];
      const refuse = (standing: UploadStanding, addedBytes: number): Result<void, "no"> => {
        asked.push([standing, addedBytes]);
        return err("no");
      };
      await added([file("a", 1)]);
      const files = [file("a", 2), file("b", 3, 7), file("b", 4, 7)];
      expect(await stores.references.add(owner, files, noon, refuse)).toEqual(err("no"));
      expect(asked).toEqual([[{ credits: 100, hasPaidOrder: true, unusedBytes: 100 }, 7]]);
      expect(await added([file("b", 5)])).toEqual([nameOf(5)]);
    });

    it("counts concurrent uploads of one account", async () => {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          stores.references.add(owner, [file(`${n}`, n)], noon, ({ unusedBytes }, addedBytes) =>
            unusedBytes + addedBytes <= 500 ? ok(undefined) : err("full"),
          ),
        ),
      );
      expect(results.filter((result) => result.isOk())).toHaveLength(5);
      expect(await unused()).toBe(500);
    });

    it("makes an unused image deletable after its retention, unless it was uploaded again", async () => {
      const [a, b, c] = [nameOf(1), nameOf(2), nameOf(3)];
      await added([file("a", 1), file("b", 2), file("c", 3)]);
      await added([file("b", 4)], secondsAfter(noon, 10));
      await added([file("c", 5)], secondsAfter(noon, 10), other);
      expect(await deletable(noon)).toEqual([]);
      expect(await deletable(secondsAfter(noon, 1))).toEqual([a]);
      expect(await unused()).toBe(100);
      expect(await deletable(secondsAfter(noon, 11))).toEqual([a, b, c]);
    });

    it("keeps a content until its object is deletable", async () => {
      await added([file("a", 1)]);
      const has = () => Promise.all(["a", "b"].map((content) => stores.references.has(content)));
      expect(await has()).toEqual([true, false]);
      await stores.references.expire(soon, soon, 10);
      expect(await has()).toEqual([false, false]);
    });

    it("gives a content a new name from the moment when the old one is deletable", async () => {
      await added([file("a", 1)]);
      await deletable(soon);
      expect(await added([file("a", 2)])).toEqual([nameOf(2)]);
      await stores.references.forget(nameOf(1));
      await stores.references.forget(nameOf(2)); // is not deletable
      expect(await added([file("a", 3)])).toEqual([nameOf(2)]);
      expect(await stores.references.claimDeletable(soon, soon, 9)).toEqual([]);
    });

    it("leases each deletable name to one of several concurrent callers, again after the lease", async () => {
      await added(Array.from({ length: 9 }, (_, n) => file(`${n}`, n)));
      await stores.references.expire(soon, noon, 9);
      const until = secondsAfter(noon, 60);
      const claims = await Promise.all([1, 2, 3].map(() => stores.references.claimDeletable(noon, until, 4)));
      const names = claims.flat();
      expect(new Set(names).size).toBe(names.length);
      while (names.length < 9) names.push(...(await stores.references.claimDeletable(noon, until, 9)));
      expect([...names].sort()).toEqual(Array.from({ length: 9 }, (_, n) => nameOf(n)));
      expect(await stores.references.claimDeletable(secondsAfter(noon, 59), until, 9)).toEqual([]);
      expect(await stores.references.claimDeletable(until, until, 9)).toHaveLength(9);
    });

    it("leases a deletable name again after the clock was set back", async () => {
      await added([file("a", 1)]);
      await stores.references.expire(soon, soon, 9);
      const [before, until] = [secondsAfter(noon, -86_400), secondsAfter(noon, -86_340)];
      expect(await stores.references.claimDeletable(before, until, 9)).toEqual([nameOf(1)]);
      expect(await stores.references.claimDeletable(before, until, 9)).toEqual([]);
    });

    it("does not expire an image while a task uses it, and does not count it as unused", async () => {
      const [a] = await added([file("a", 1)]);
      await succeeded(await created(1, [a!, a!]));
      expect(await unused()).toBe(0);
      expect(await deletable(soon)).toEqual([]);
      expect(await added([file("a", 2)])).toEqual([a]);
      expect(await deletable(soon)).toEqual([]);
    });

    it("makes an image deletable when the last task that uses it is deleted", async () => {
      const [a] = await added([file("a", 1)]);
      await succeeded(await created(1, [a!]));
      await succeeded(await created(2, [a!], other));
      (await stores.tasks.delete(taskId(1), owner, noon))._unsafeUnwrap();
      expect(await deletable(noon)).toEqual([]);
      (await stores.tasks.delete(taskId(2), other, noon))._unsafeUnwrap();
      expect(await deletable(noon)).toEqual([a]);
    });

    it("keeps an image that was uploaded again when its last task is deleted, until it expires", async () => {
      const [a] = await added([file("a", 1)]);
      await succeeded(await created(1, [a!]));
      await added([file("a", 2)]);
      (await stores.tasks.delete(taskId(1), owner, noon))._unsafeUnwrap();
      expect(await deletable(noon)).toEqual([]);
      expect(await deletable(secondsAfter(noon, 1))).toEqual([a]);
    });

    it("counts the images of a failed task as unused, from the time of the failure", async () => {
      const [a] = await added([file("a", 1)]);
      await failed(await created(1, [a!]), secondsAfter(noon, 60));
      expect(await unused()).toBe(100);
      expect(await deletable(secondsAfter(noon, 60))).toEqual([]);
      await failed(await created(2, [a!]), secondsAfter(noon, 90));
      expect(await deletable(secondsAfter(noon, 90))).toEqual([]);
      expect(await deletable(secondsAfter(noon, 91))).toEqual([a]);
    });

    it("refuses a creation with a deleted image and writes nothing, also for the owner of another task", async () => {
      const [a, b] = await added([file("a", 1), file("b", 2)]);
      await added([file("b", 2)], secondsAfter(noon, 10));
      await deletable(secondsAfter(noon, 1));
      for (const forgotten of [false, true]) {
        if (forgotten) await stores.references.forget(a!);
        expect((await create(1, [b!, a!]))._unsafeUnwrapErr()).toEqual({
          kind: "invalid_request",
          field: "image_urls",
          index: 1,
          rule: { name: "missing_image" },
        });
      }
      expect(await stores.ledger.balance(owner)).toBe(100);
      expect(await stores.tasks.list(owner, 9, undefined)).toEqual([]);
      await created(2, [b!], other);
    });
  });
