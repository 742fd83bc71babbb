import { err, ok } from "neverthrow";
import { notFound } from "../../application/errors.js";
import type { DeliveryLease } from "../../application/ports/delivery-store.js";
import type { AccountId } from "../../domain/account.js";
import { credits } from "../../domain/credits.js";
import type { DueDelivery } from "../../domain/share-slots.js";
import { addThumbnail, keep, keepWithoutThumbnail, uploading } from "../../domain/storage-status.js";
import {
  fail,
  finish,
  openTask,
  type SubmittedTask,
  type SucceededTask,
  submit,
  succeed,
  withImage,
} from "../../domain/task.js";
import { type AttemptResult, afterAttempt, giveUpDelivery, pendingAt } from "../../domain/webhook-delivery.js";
import { newReceiver, originFreeAt, type Receiver, receiverAfter } from "../../domain/webhook-receiver.js";
import {
  aCreationRequest,
  accountId,
  aNativeSize,
  anAccount,
  anEndpoint,
  anImageName,
  aPaidOrder,
  aReservedTask,
  endpointId,
  noon,
  orderId,
  secondsAfter,
  taskId,
} from "./builders.js";
import { expect } from "./expect.js";
import type { Stores } from "./stores.js";
import type { TestFunctions } from "./test-functions.js";

const ORIGIN = "https://receiver.example.com";

/** What every DeliveryStore, and the outbox of every TaskStore, must do (application/ports/delivery-store.ts). */
export const describeDeliveryStore = (
  { describe, it, beforeEach, afterEach }: TestFunctions,
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "deliveries" | "endpoints" | "tasks" | "close">>,
): void =>
  describe(`DeliveryStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    const always = () => ok(undefined);
    const end = secondsAfter(noon, 30);
    const now = secondsAfter(noon, 60);
    const until = secondsAfter(noon, 90);
    const failure: AttemptResult = { kind: "failed", detail: "status 500", isGone: false };
    const success: AttemptResult = { kind: "delivered", detail: "status 200" };
    let stores: Pick<Stores, "accounts" | "deliveries" | "endpoints" | "tasks" | "close">;

    beforeEach(async () => {
      stores = await makeStores();
      for (const [n, id] of [owner, other].entries()) {
        const order = aPaidOrder({ id: orderId(n + 1), accountId: id, credits: credits(100_000) });
        await stores.accounts.open(anAccount({ id }), undefined, order, undefined);
      }
    });
    afterEach(() => stores.close());

    const submitted = async (n = 1, account: AccountId = owner, body = {}): Promise<SubmittedTask> => {
      const { tasks } = stores;
      const task = aReservedTask({ id: taskId(n), accountId: account, request: aCreationRequest(body) });
      const opened = await tasks.open({ account, dueAt: noon, decide: (standing) => openTask(standing, task, noon) });
      expect(opened.isOk()).toBe(true);
      const next = submit(task, `upstream-${n}`, secondsAfter(noon, 1));
      expect(await tasks.move(task, next, noon)).toEqual(ok(undefined));
      return next;
    };
    const succeeded = async (n = 1, account: AccountId = owner, body = {}): Promise<SucceededTask> => {
      const task = await submitted(n, account, body);
      const next = succeed(finish(task, `https://p.example/${n}`), anImageName(n), aNativeSize, end);
      expect(await stores.tasks.move(task, next, end)).toEqual(ok(undefined));
      return next;
    };
    const saved = async (n = 1, account: AccountId = owner, body = {}): Promise<SucceededTask> => {
      const task = await succeeded(n, account, body);
      const next = withImage(task, keep(uploading(task.image.temporaryUrl, task.image.imageName)));
      expect(await stores.tasks.move(task, next, undefined)).toEqual(ok(undefined));
      return next;
    };
    const addNewEndpoint = (n = 1, account: AccountId = owner) =>
      stores.endpoints.insert(anEndpoint({ id: endpointId(n), accountId: account }), always);
    /** One that has confirmed a webhook. */
    const addEndpoint = async (n = 1, account: AccountId = owner) => {
      await addNewEndpoint(n, account);
      await setReceiver(endpointId(n), { verifiedAt: noon, failures: 0, nextAt: noon });
    };
    /** As an attempt does that was the last one of a delivery that is deleted now. */
    const setReceiver = (lane: string, receiver: Receiver, originFreeAt = noon) => {
      const lease = { ...aLease(), lane };
      const ended = giveUpDelivery(lease.delivery, "status 200", noon);
      return stores.deliveries.record(lease, { delivery: ended, receiver, originFreeAt }, success, noon);
    };
    const aLease = (): DeliveryLease => ({
      id: 987_654,
      fence: 1,
      lane: "",
      origin: ORIGIN,
      receiver: newReceiver(noon),
      delivery: pendingAt(noon),
      event: { type: "credits.low", accountId: owner, number: 987_654, remainingCredits: credits(1), at: noon },
      task: undefined,
      url: `${ORIGIN}/hook`,
      endpoint: anEndpoint({ id: endpointId(987) }),
    });
    const listed = async (account = owner) =>
      (await stores.deliveries.list(account, 100, undefined))
        .reverse()
        .map(({ event }) => `${event.number} ${event.type}`);
    const claim = (limit = 100, laneLimit = 100, busyLanes: readonly string[] = [], at = now) =>
      stores.deliveries.claim({ now: at, until, limit, laneLimit, busyLanes, choose: (due) => due });
    const names = (leases: readonly DeliveryLease[]) =>
      leases.map(
        ({ endpoint, event }) => `${endpoint.id === endpointId(1) ? "" : "other "}${event.number} ${event.type}`,
      );
    const record = (lease: DeliveryLease, result: AttemptResult, at = now) =>
      stores.deliveries.record(
        lease,
        {
          delivery: afterAttempt(lease.delivery, result, at),
          receiver: receiverAfter(lease.receiver, result, at),
          originFreeAt: originFreeAt(result, at),
        },
        result,
        at,
      );
    const endpoint = async () => (await stores.endpoints.list(owner)).find(({ id }) => id === endpointId(1));

    describe("the outbox", () => {
      it("forgets the events of a task that is hidden with their deliveries, unless they are still to be sent", async () => {
        const hide = async (n: number) => {
          await saved(n);
          expect(await stores.tasks.hide(taskId(n), owner, end)).toEqual(ok(undefined));
        };
        const send = async () => {
          for (const _ of ["succeeded", "saved"]) for (const lease of await claim()) await record(lease, success);
        };
        await addEndpoint();
        await saved(1);
        await send();
        await hide(2);
        expect(await listed()).toEqual([1, 2, 3, 4].map((n) => `${n} panorama.${n % 2 === 1 ? "succeeded" : "saved"}`));
        await send();
        expect(await stores.tasks.hide(taskId(1), owner, end)).toEqual(ok(undefined));
        expect(await listed()).toEqual(["3 panorama.succeeded", "4 panorama.saved"]);
        expect(await stores.tasks.eraseTexts(now, 9, now)).toBe(2);
        expect(await listed()).toEqual([]);
      });

      it("has one event for each end of a task and one when its image is saved, in the order of the moves", async () => {
        await addEndpoint();
        const first = await submitted(1);
        await saved(2);
        await stores.tasks.move(first, fail(first, "generation_failed", end), undefined);
        expect(await listed()).toEqual(["1 panorama.succeeded", "2 panorama.saved", "3 panorama.failed"]);
        const [lease] = await claim();
        expect(lease).toMatchObject({
          lane: endpointId(1),
          url: "https://receiver.example.com/hook",
          endpoint: anEndpoint(),
          event: { type: "panorama.succeeded", accountId: owner, number: 1, taskId: taskId(2), at: end },
          task: { id: taskId(2), state: "succeeded", image: { status: "saved" } },
          delivery: { ...pendingAt(until) },
        });
      });

      it("says once that an image is saved, without its thumbnail or with it", async () => {
        await addEndpoint();
        const task = await succeeded();
        const { temporaryUrl, imageName } = task.image;
        const without = withImage(task, keepWithoutThumbnail(uploading(temporaryUrl, imageName)));
        await stores.tasks.move(task, without, now);
        if (without.image.status !== "saved-no-thumb") throw new Error("the image has another status");
        await stores.tasks.move(without, withImage(without, addThumbnail(without.image)), undefined);
        expect(await listed()).toEqual(["1 panorama.succeeded", "2 panorama.saved"]);
      });

      it("has one event of twenty concurrent moves of one task", async () => {
        await addEndpoint();
        const task = await submitted();
        const moves = Array.from({ length: 20 }, () =>
          stores.tasks.move(task, fail(task, "generation_failed", end), undefined),
        );
        expect((await Promise.all(moves)).filter((moved) => moved.isOk())).toHaveLength(1);
        expect(await listed()).toEqual(["1 panorama.failed"]);
      });

      it("numbers the events of an account without gaps when many tasks end concurrently", async () => {
        await addEndpoint();
        await addEndpoint(2, other);
        for (let round = 0; round < 4; round += 1) {
          const numbers = [1, 2, 3, 4, 5].map((n) => round * 10 + n);
          const tasks = await Promise.all([
            ...numbers.map((n) => submitted(n)),
            ...numbers.map((n) => submitted(n + 100, other)),
          ]);
          const moved = await Promise.all(
            tasks.map((task) => stores.tasks.move(task, fail(task, "generation_failed", end), undefined)),
          );
          expect(moved.filter((result) => result.isErr())).toEqual([]);
        }
        const numbers = Array.from({ length: 20 }, (_, index) => `${index + 1} panorama.failed`);
        expect([(await listed()).sort(byNumber), (await listed(other)).sort(byNumber)]).toEqual([numbers, numbers]);
      });

      it("writes a delivery for each endpoint that is on, and none for other accounts", async () => {
        await addEndpoint(1);
        await addEndpoint(2);
        await addEndpoint(3);
        await addEndpoint(4, other);
        await stores.deliveries.switchOff(anEndpoint({ id: endpointId(3) }), "gone", now, now);
        await succeeded();
        expect(names(await claim())).toEqual(["1 panorama.succeeded", "other 1 panorama.succeeded"]);
        expect(await listed(other)).toEqual([]);
      });

      it("sends the events of a task with a webhook_url there too, by the account's default endpoint", async () => {
        await addEndpoint();
        const url = "https://hooks.example.com:8443/panorama?task=7";
        const secretOwner = await stores.endpoints.ensureDefault(anEndpoint({ id: endpointId(9), url: undefined }));
        await succeeded(1, owner, { webhook_url: url });
        await succeeded(2);
        const leases = (await claim()).sort((a, b) => a.event.number - b.event.number || b.url.localeCompare(a.url));
        expect(leases.map((lease) => [lease.event.number, lease.url])).toEqual([
          [1, "https://receiver.example.com/hook"],
          [1, url],
          [2, "https://receiver.example.com/hook"],
        ]);
        expect(leases[1]).toMatchObject({ lane: `${owner} https://hooks.example.com:8443`, endpoint: secretOwner });
        expect((await stores.deliveries.list(owner, 9, undefined)).map((delivery) => delivery.url)).toContain(url);
      });

      it("tells the account when a creation has left few credits", async () => {
        await addEndpoint();
        const task = aReservedTask({ accountId: owner });
        const opened = await stores.tasks.open({
          account: owner,
          dueAt: noon,
          decide: (standing) => openTask({ ...standing, lowBalanceThreshold: standing.credits }, task, noon),
        });
        expect(opened.isOk()).toBe(true);
        const [lease] = await claim();
        expect(lease?.event).toEqual({
          type: "credits.low",
          accountId: owner,
          number: 1,
          remainingCredits: 99_996,
          at: noon,
        });
        expect(lease?.task).toBeUndefined();
        await succeeded(2);
        expect(await listed()).toEqual(["1 credits.low", "2 panorama.succeeded"]);
      });
    });

    describe("claim", () => {
      it("returns a delivery to one of eight concurrent callers, and again when the lease has expired", async () => {
        await addEndpoint();
        await succeeded();
        const claims = await Promise.all(Array.from({ length: 8 }, () => claim()));
        expect(claims.flat()).toHaveLength(1);
        expect(await claim()).toEqual([]);
        const again = await claim(100, 100, [], until);
        expect(again.map(({ fence }) => fence)).toEqual([2]);
      });

      it("returns each of many deliveries once to concurrent callers", async () => {
        for (const n of [1, 2, 3]) await addEndpoint(n);
        for (let n = 1; n <= 8; n += 1) {
          const task = await submitted(n);
          await stores.tasks.move(task, fail(task, "generation_failed", end), undefined);
        }
        const ids: number[] = [];
        for (let round = 0; round < 40 && ids.length < 24; round += 1) {
          const claims = await Promise.all([1, 2, 3].map(() => claim(4, 2)));
          ids.push(...claims.flat().map(({ id }) => id));
        }
        expect([ids.length, new Set(ids).size]).toEqual([24, 24]);
      });

      it("returns at most laneLimit of one endpoint, and none of a busy one", async () => {
        await addEndpoint(1);
        await addEndpoint(2, other);
        for (const n of [1, 2, 3, 4, 5]) await succeeded(n);
        await succeeded(6, other);
        expect(names(await claim(100, 2))).toEqual([
          "1 panorama.succeeded",
          "2 panorama.succeeded",
          "other 1 panorama.succeeded",
        ]);
        expect(await claim(100, 2, [endpointId(1)])).toEqual([]);
        expect(names(await claim(2, 100))).toEqual(["3 panorama.succeeded", "4 panorama.succeeded"]);
      });

      it("returns a later event of a task only after the earlier one is delivered or given up", async () => {
        await addEndpoint();
        await saved();
        const [first] = await claim();
        expect(await claim()).toEqual([]);
        await record(first as DeliveryLease, failure);
        expect(await claim(100, 100, [], secondsAfter(now, 4))).toEqual([]);
        const [again] = await claim(100, 100, [], secondsAfter(now, 5));
        expect(again?.event.type).toBe("panorama.succeeded");
        await record(again as DeliveryLease, success);
        expect(names(await claim(100, 100, [], secondsAfter(now, 5)))).toEqual(["2 panorama.saved"]);
      });

      it("returns the events of a task that was deleted before they were delivered, with the task as it was last", async () => {
        await addEndpoint();
        const task = await saved(1);
        await stores.tasks.hide(task.id, owner, now);
        const [first] = await claim();
        expect(first).toMatchObject({
          event: { type: "panorama.succeeded" },
          task: { id: task.id, image: task.image },
        });
        await record(first as DeliveryLease, success);
        expect(names(await claim())).toEqual(["2 panorama.saved"]);
      });

      it("does not make the events of one endpoint wait for another endpoint", async () => {
        await addEndpoint(1);
        await addEndpoint(2);
        await saved();
        const leases = await claim();
        for (const lease of leases) await record(lease, lease.lane === endpointId(1) ? failure : success);
        expect(names(await claim())).toEqual(["other 2 panorama.saved"]);
      });
    });

    describe("choose", () => {
      it("gets what is due, in turns of the accounts, with what their receivers are like", async () => {
        await addEndpoint(1);
        await addNewEndpoint(2, other);
        for (const n of [1, 2, 3]) await succeeded(n);
        await succeeded(4, other);
        const seen: DueDelivery[][] = [];
        const leases = await stores.deliveries.claim({
          now,
          until,
          limit: 3,
          laneLimit: 2,
          busyLanes: [],
          choose: (due) => {
            seen.push([...due]);
            return due.slice(1, 2);
          },
        });
        const steady = { verifiedAt: noon, failures: 0, nextAt: noon };
        expect(seen[0]?.map(({ accountId, lane, origin, receiver }) => [accountId, lane, origin, receiver])).toEqual([
          [owner, endpointId(1), ORIGIN, steady],
          [other, endpointId(2), ORIGIN, newReceiver(now)],
          [owner, endpointId(1), ORIGIN, steady],
        ]);
        expect(leases.map(({ id, receiver }) => [id, receiver])).toEqual([[seen[0]?.[1]?.id, newReceiver(now)]]);
        expect(names(await claim(100, 1))).toEqual(["1 panorama.succeeded"]);
      });

      it("gets the first of every account before the second ones, also with many lanes of one account", async () => {
        for (const n of [1, 2, 3, 4, 5, 6]) await addEndpoint(n);
        await addEndpoint(7, other);
        await succeeded(1);
        await succeeded(2, other);
        const leases = await claim(2);
        expect(leases.map(({ endpoint }) => endpoint.accountId).sort()).toEqual([owner, other].sort());
      });
    });

    describe("an unverified receiver", () => {
      const url = "https://hooks.example.com/1";
      const lane = `${owner} https://hooks.example.com`;

      it("has one lease at a time, whoever claims, and none before its pause has ended", async () => {
        await addNewEndpoint();
        for (const n of [1, 2, 3]) await succeeded(n);
        const claims = await Promise.all(Array.from({ length: 8 }, () => claim(1)));
        const leases = claims.flat();
        expect(leases.map(({ receiver }) => receiver.verifiedAt)).toEqual([undefined]);
        expect(await claim()).toEqual([]);
        await record(leases[0] as DeliveryLease, failure);
        expect(await claim(100, 100, [], secondsAfter(now, 4))).toEqual([]);
        const [second] = await claim(1, 1, [], secondsAfter(now, 5));
        expect(second?.receiver).toEqual({ verifiedAt: undefined, failures: 1, nextAt: secondsAfter(now, 5) });
        await record(second as DeliveryLease, success, secondsAfter(now, 6));
        const later = await claim(100, 100, [], secondsAfter(now, 6));
        expect(later.map(({ receiver }) => receiver.verifiedAt)).toEqual([1, 2].map(() => secondsAfter(now, 6)));
      });

      it("shares its origin with those of other accounts, and not with receivers that are verified", async () => {
        await addNewEndpoint(1);
        await addNewEndpoint(2, other);
        await addEndpoint(3, other);
        await succeeded(1);
        await succeeded(2, other);
        const [first, ...others] = await claim(1);
        expect(others).toEqual([]);
        expect(names(await claim())).toEqual(["other 1 panorama.succeeded"]);
        expect(await claim()).toEqual([]);
        await record(first as DeliveryLease, failure);
        expect(await claim(100, 100, [], secondsAfter(now, 4))).toEqual([]);
        const after = await claim(100, 100, [], secondsAfter(now, 5));
        expect(after.map(({ endpoint }) => endpoint.accountId)).toEqual([other]);
      });

      it("of a webhook_url is that of its account and origin", async () => {
        await stores.endpoints.ensureDefault(anEndpoint({ id: endpointId(9), url: undefined }));
        for (const n of [1, 2]) await succeeded(n, owner, { webhook_url: url });
        const [lease] = await claim(1);
        expect(lease).toMatchObject({ lane, origin: "https://hooks.example.com", receiver: newReceiver(now) });
        expect(await claim()).toEqual([]);
        await record(lease as DeliveryLease, success);
        expect(await claim()).toHaveLength(1);
      });

      it("may be tried again when its lease has expired", async () => {
        await addNewEndpoint();
        await succeeded();
        expect(await claim()).toHaveLength(1);
        expect(await claim(100, 100, [], until)).toHaveLength(1);
      });
    });

    describe("a receiver that does not answer", () => {
      const timeout: AttemptResult = { kind: "failed", detail: "timeout", isGone: false, isUnanswered: true };

      it("has one lease at a time until it confirms one", async () => {
        await addEndpoint();
        for (const n of [1, 2, 3, 4]) await succeeded(n);
        for (const lease of await claim(2)) await record(lease, timeout);
        expect(await claim(100, 100, [], secondsAfter(now, 4))).toEqual([]);
        const at = secondsAfter(now, 5);
        const [probe] = await claim(1, 1, [], at);
        expect(probe?.receiver).toEqual({ verifiedAt: noon, failures: 1, nextAt: at });
        expect(await claim(100, 100, [], at)).toEqual([]);
        await record(probe as DeliveryLease, success, at);
        expect(await claim(100, 100, [], at)).toHaveLength(3);
      });

      it("is tried at once when its account sends an event again, and when its clock was wrong", async () => {
        await addEndpoint();
        await succeeded();
        const [lease] = (await claim()) as [DeliveryLease];
        await record(lease, timeout);
        expect(await stores.deliveries.resend(lease.id, owner, now)).toEqual(ok(undefined));
        expect(await claim()).toHaveLength(1);
        await setReceiver(endpointId(1), { verifiedAt: noon, failures: 1, nextAt: secondsAfter(now, 10_000) });
        await succeeded(2);
        expect(await claim()).toEqual([]);
        await stores.deliveries.bringForward(secondsAfter(now, 9_999), now);
        expect(await claim()).toHaveLength(1);
      });
    });

    it("deleteEvents forgets receivers to which nothing was sent since", async () => {
      await addEndpoint();
      await succeeded();
      await stores.deliveries.deleteEvents(secondsAfter(noon, 1), 10);
      const [lease] = await claim();
      expect(lease?.receiver.verifiedAt).toBeUndefined();
    });

    describe("record", () => {
      it("stores the result of each attempt", async () => {
        await addEndpoint();
        await succeeded();
        const [first] = await claim();
        await record(first as DeliveryLease, failure);
        const [waiting] = await stores.deliveries.list(owner, 1, undefined);
        expect(waiting?.delivery).toEqual({
          state: "pending",
          attempts: 1,
          firstAttemptAt: now,
          detail: "status 500",
          dueAt: secondsAfter(now, 5),
        });
        const [second] = await claim(1, 1, [], secondsAfter(now, 5));
        expect(second?.delivery).toEqual({ ...waiting?.delivery, dueAt: until });
        await record(second as DeliveryLease, success, secondsAfter(now, 6));
        const [done] = await stores.deliveries.list(owner, 1, undefined);
        expect(done?.delivery).toEqual({
          state: "delivered",
          attempts: 2,
          firstAttemptAt: now,
          detail: "status 200",
          endedAt: secondsAfter(now, 6),
        });
      });

      it("ignores a lease whose delivery was claimed again", async () => {
        await addEndpoint();
        await succeeded();
        const [first] = await claim();
        const [second] = await claim(1, 1, [], until);
        await record(first as DeliveryLease, success);
        expect((await stores.deliveries.list(owner, 1, undefined))[0]?.delivery.state).toBe("pending");
        await record(second as DeliveryLease, success);
        expect((await stores.deliveries.list(owner, 1, undefined))[0]?.delivery.state).toBe("delivered");
      });

      it("remembers since when an endpoint fails, until it succeeds", async () => {
        await addEndpoint();
        for (const n of [1, 2, 3]) await succeeded(n);
        const [one, two, three] = (await claim()) as [DeliveryLease, DeliveryLease, DeliveryLease];
        await record(one, failure, secondsAfter(now, 1));
        await record(two, failure, secondsAfter(now, 2));
        expect((await endpoint())?.failingSince).toEqual(secondsAfter(now, 1));
        await record(three, success, secondsAfter(now, 3));
        expect((await endpoint())?.failingSince).toBeUndefined();
      });
    });

    describe("switchOff", () => {
      it("switches an endpoint off once and gives up what is pending", async () => {
        await addEndpoint();
        await succeeded();
        expect(await stores.deliveries.switchOff(anEndpoint(), "gone", now, now)).toBe(true);
        expect(await stores.deliveries.switchOff(anEndpoint(), "gone", now, now)).toBe(false);
        expect((await endpoint())?.off).toEqual({ at: now, reason: "gone" });
        expect(await claim()).toEqual([]);
        const [given] = await stores.deliveries.list(owner, 1, undefined);
        expect(given?.delivery).toMatchObject({
          state: "failed",
          detail: "the endpoint is switched off",
          endedAt: now,
        });
      });

      it("does not switch off an endpoint that has succeeded, or has failed for too short a time", async () => {
        await addEndpoint();
        await succeeded();
        expect(await stores.deliveries.switchOff(anEndpoint(), "failing", now, now)).toBe(false);
        const [lease] = await claim();
        await record(lease as DeliveryLease, failure, now);
        expect(await stores.deliveries.switchOff(anEndpoint(), "failing", now, secondsAfter(now, -1))).toBe(false);
        expect(await stores.deliveries.switchOff(anEndpoint(), "failing", now, now)).toBe(true);
      });

      it("gives up what is pending for an endpoint that is deleted, and lists it further", async () => {
        await addEndpoint();
        await succeeded();
        await stores.endpoints.delete(endpointId(1), owner, now);
        expect(await claim()).toEqual([]);
        expect((await stores.deliveries.list(owner, 1, undefined))[0]?.delivery.state).toBe("failed");
        await succeeded(2);
        expect(await listed()).toEqual(["1 panorama.succeeded"]);
      });
    });

    describe("list and resend", () => {
      it("lists the account's deliveries, newest first, in pages", async () => {
        await addEndpoint();
        await addEndpoint(2, other);
        for (const n of [1, 2, 3]) await succeeded(n);
        await succeeded(4, other);
        const first = await stores.deliveries.list(owner, 2, undefined);
        expect(first.map(({ event }) => event.number)).toEqual([3, 2]);
        const second = await stores.deliveries.list(owner, 2, first[1]?.id);
        expect(second.map(({ event }) => event.number)).toEqual([1]);
      });

      it("sends an event again, as the same event, also while another worker has the old lease", async () => {
        await addEndpoint();
        await succeeded();
        const [lease] = (await claim()) as [DeliveryLease];
        expect(await stores.deliveries.resend(lease.id, owner, now)).toEqual(ok(undefined));
        await record(lease, success);
        const [again] = (await claim()) as [DeliveryLease];
        expect([again.id, again.event, again.delivery.attempts]).toEqual([lease.id, lease.event, 0]);
        await record(again, success);
        expect(await stores.deliveries.resend(lease.id, owner, now)).toEqual(ok(undefined));
        expect(names(await claim())).toEqual(["1 panorama.succeeded"]);
      });

      it("refuses to send again for another account, and to an endpoint that is switched off", async () => {
        await addEndpoint();
        await succeeded();
        const id = (await stores.deliveries.list(owner, 1, undefined))[0]?.id ?? 0;
        const unknown = err(notFound(`There is no delivery ${id} on this account.`));
        expect(await stores.deliveries.resend(id, other, now)).toEqual(unknown);
        await stores.deliveries.switchOff(anEndpoint(), "gone", now, now);
        expect(await stores.deliveries.resend(id, owner, now)).toEqual(err({ kind: "endpoint_off" }));
      });
    });

    it("bringForward makes deliveries that are due too late due at the given time", async () => {
      await addEndpoint();
      await succeeded();
      const wait = { now, until: secondsAfter(now, 1_000), limit: 1, laneLimit: 1, busyLanes: [] };
      await stores.deliveries.claim({ ...wait, choose: (due) => due });
      await stores.deliveries.bringForward(secondsAfter(now, 1_000), now);
      expect(await claim()).toEqual([]);
      await stores.deliveries.bringForward(secondsAfter(now, 999), now);
      expect(await claim()).toHaveLength(1);
    });

    it("deleteEvents deletes the oldest events with their deliveries, and keeps the others", async () => {
      await addEndpoint();
      for (const n of [1, 2, 3]) await succeeded(n);
      expect(await stores.deliveries.deleteEvents(end, 100)).toBe(0);
      expect(await stores.deliveries.deleteEvents(secondsAfter(end, 1), 2)).toBe(2);
      expect(await listed()).toHaveLength(1);
      await succeeded(4);
      expect((await listed()).at(-1)).toBe("4 panorama.succeeded");
      await stores.endpoints.delete(endpointId(1), owner, end);
      expect(await stores.deliveries.deleteEvents(secondsAfter(end, 1), 100)).toBe(2);
      expect(await listed()).toEqual([]);
    });
  });

const byNumber = (a: string, b: string): number => Number.parseInt(a, 10) - Number.parseInt(b, 10);
