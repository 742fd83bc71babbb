import { describe, expect, it } from "vitest";
import { endpointId, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import type { DeliveryLease } from "../../../application/ports/stores/webhook-stores.js";
import { fail } from "../../../domain/tasks/task.js";
import type { DueDelivery } from "../../../domain/webhooks/share-slots.js";
import { newReceiver } from "../../../domain/webhooks/webhook-receiver.js";
import { type DeliverySetup, ORIGIN } from "./delivery-setup.js";

/** Which deliveries a worker may claim, and what `choose` gets. */
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
};
