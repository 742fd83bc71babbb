import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { anEndpoint, endpointId, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import type { DeliveryLease } from "../../../application/ports/stores/webhook-stores.js";
import { fail } from "../../../domain/tasks/task.js";
import type { DueDelivery } from "../../../domain/webhooks/share-slots.js";
import type { AttemptResult } from "../../../domain/webhooks/webhook-delivery.js";
import { newReceiver } from "../../../domain/webhooks/webhook-receiver.js";
import { type DeliverySetup, ORIGIN } from "./delivery-setup.js";

/** Which deliveries a worker may claim, what `choose` gets, and how many leases an unproven receiver has. */
export const describeDeliveryClaims = (on: DeliverySetup): void => {
  const {
    owner,
    other,
    end,
    now,
    until,
    failure,
    success,
    submitted,
    succeeded,
    saved,
    addNewEndpoint,
    addEndpoint,
    setReceiver,
    claim,
    names,
    record,
  } = on;

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
        await on.stores.tasks.move(task, fail(task, "generation_failed", end), undefined);
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

    it("returns pending events of a deleted task, with the last state of the task", async () => {
      await addEndpoint();
      const task = await saved(1);
      await on.stores.tasks.delete(task.id, owner, now);
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
    it("gets due deliveries, accounts in turn, with the state of their receivers", async () => {
      await addEndpoint(1);
      await addNewEndpoint(2, other);
      for (const n of [1, 2, 3]) await succeeded(n);
      await succeeded(4, other);
      const seen: DueDelivery[][] = [];
      const leases = await on.stores.deliveries.claim({
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

    it("gets the first delivery of every account before any second one, also with many lanes of one account", async () => {
      for (const n of [1, 2, 3, 4, 5, 6]) await addEndpoint(n);
      await addEndpoint(7, other);
      await succeeded(1);
      await succeeded(2, other);
      const leases = await claim(2);
      expect(leases.map(({ endpoint }) => endpoint.accountId).sort()).toEqual([owner, other].sort());
    });
  });

  it("bringForward makes deliveries that are due too late due at the given time", async () => {
    await addEndpoint();
    await succeeded();
    const wait = { now, until: secondsAfter(now, 1_000), limit: 1, laneLimit: 1, busyLanes: [] };
    await on.stores.deliveries.claim({ ...wait, choose: (due) => due });
    await on.stores.deliveries.bringForward(secondsAfter(now, 1_000), now);
    expect(await claim()).toEqual([]);
    await on.stores.deliveries.bringForward(secondsAfter(now, 999), now);
    expect(await claim()).toHaveLength(1);
  });

  describe("an unverified receiver", () => {
    const url = "https://hooks.example.com/1";
    const lane = `${owner} https://hooks.example.com`;

    it("gets one delivery at a time, and none before the end of its pause", async () => {
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

    it("takes turns with the others of its origin; verified receivers do not wait", async () => {
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

    it("of a webhook_url belongs to its account and origin", async () => {
      await on.stores.endpoints.ensureDefault(anEndpoint({ id: endpointId(9), url: undefined }));
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

    it("gets one delivery at a time until it confirms one", async () => {
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

    it("is tried at once after a resend, and after a wrong clock", async () => {
      await addEndpoint();
      await succeeded();
      const [lease] = (await claim()) as [DeliveryLease];
      await record(lease, timeout);
      expect(await on.stores.deliveries.resend(lease.id, owner, now)).toEqual(ok(undefined));
      const again = await claim();
      expect(again).toHaveLength(1);
      await record(again[0] as DeliveryLease, timeout);
      await setReceiver(endpointId(1), { verifiedAt: noon, failures: 1, nextAt: secondsAfter(now, 10_000) });
      await succeeded(2);
      expect(await claim()).toEqual([]);
      await on.stores.deliveries.bringForward(secondsAfter(now, 9_999), now);
      expect(await claim()).toHaveLength(1);
    });
  });
};
