import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { anEndpoint, endpointId, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { notFound } from "../../../application/errors.js";
import type { DeliveryLease } from "../../../application/ports/stores/webhook-stores.js";
import type { DueDelivery } from "../../../domain/webhooks/share-slots.js";
import type { DeliverySetup } from "./delivery-setup.js";

/** What becomes of a delivery: its attempts, the end of its endpoint, a resend, its deletion. */
export const describeAttempts = (on: DeliverySetup): void => {
  const {
    owner,
    other,
    end,
    now,
    until,
    failure,
    success,
    succeeded,
    saved,
    addEndpoint,
    setReceiver,
    listed,
    claim,
    names,
    record,
    endpoint,
  } = on;

  describe("record", () => {
    it("stores the result of each attempt", async () => {
      await addEndpoint();
      await succeeded();
      const [first] = await claim();
      await record(first as DeliveryLease, failure);
      const [waiting] = await on.stores.deliveries.list(owner, 1, undefined);
      expect(waiting?.delivery).toEqual({
        state: "pending",
        attempts: 1,
        firstAttemptAt: now,
        detail: "status 500",
        dueAt: secondsAfter(now, 5),
      });
      const [second] = await claim(1, 1, [], secondsAfter(now, 5));
      expect(second?.delivery).toEqual({ ...waiting?.delivery, dueAt: until });
      expect(second?.endpoint.failingSince).toEqual(now);
      await record(second as DeliveryLease, success, secondsAfter(now, 6));
      const [done] = await on.stores.deliveries.list(owner, 1, undefined);
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
      expect((await on.stores.deliveries.list(owner, 1, undefined))[0]?.delivery.state).toBe("pending");
      await record(second as DeliveryLease, success);
      expect((await on.stores.deliveries.list(owner, 1, undefined))[0]?.delivery.state).toBe("delivered");
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

  const lapsed = secondsAfter(until, 1);
  const resend = (at: Date) => (lease: DeliveryLease) => on.stores.deliveries.resend(lease.id, owner, at);
  const takeOver = () => claim(1, 1, [], until);
  const giveUp = () => on.stores.deliveries.switchOff(anEndpoint(), "gone", now, now);
  const remove = () => on.stores.endpoints.delete(endpointId(1), owner, now);
  it.each([
    ["nobody", () => {}, failure, "pending", 5],
    ["a resend", resend(now), failure, "pending", 0],
    ["a resend", resend(now), success, "pending", 0],
    ["a resend after the lease", resend(lapsed), failure, "pending", 31],
    ["a resend after the lease", resend(lapsed), success, "pending", 31],
    ["another claim", takeOver, failure, "pending", 30],
    ["another claim", takeOver, success, "pending", 30],
    ["the end of the endpoint", giveUp, failure, "failed", undefined],
    ["the end of the endpoint", giveUp, success, "delivered", undefined],
    ["the deletion of the endpoint", remove, failure, "failed", undefined],
  ] as const)("record after %s %#", async (_, meanwhile, result, state, dueAfterSeconds) => {
    await on.addNewEndpoint();
    await succeeded();
    const [lease] = (await claim()) as [DeliveryLease];
    await meanwhile(lease);
    await record(lease, result);
    const [stored] = await on.stores.deliveries.list(owner, 1, undefined);
    expect(stored?.delivery).toMatchObject({
      state,
      ...(dueAfterSeconds !== undefined && { dueAt: secondsAfter(now, dueAfterSeconds) }),
    });
    if (dueAfterSeconds === 31) expect(await claim(1, 1, [], lapsed)).toHaveLength(1);
  });

  const probeAgain = () => {
    const all = { limit: 1, laneLimit: 1, busyLanes: [], choose: (due: readonly DueDelivery[]) => due };
    return on.stores.deliveries.claim({ ...all, now: until, until: secondsAfter(noon, 120) });
  };
  // A probe of a lane in doubt from 60 to 90 seconds, whose failure makes the lane wait. Another event waits there.
  const another = async () => (await on.stores.deliveries.list(owner, 1, undefined))[0]?.id ?? 0;
  it.each([
    ["nobody", () => {}, 70],
    ["a resend of another event", async () => on.stores.deliveries.resend(await another(), owner, now), 60],
    ["one after the lease", async () => on.stores.deliveries.resend(await another(), owner, lapsed), 91],
    ["another probe", probeAgain, 120],
  ] as const)("a lane is free at the right time after a probe and %s", async (_, meanwhile, freeAfter) => {
    await addEndpoint();
    await setReceiver(endpointId(1), { verifiedAt: noon, failures: 1, nextAt: noon });
    for (const n of [1, 2]) await succeeded(n);
    const [probe] = (await claim()) as [DeliveryLease];
    await meanwhile();
    await record(probe, failure);
    const later = (seconds: number) => claim(9, 9, [], secondsAfter(noon, seconds));
    expect(await later(freeAfter - 0.001)).toEqual([]);
    expect(await later(freeAfter)).toHaveLength(1);
  });

  it("enable keeps the time since when an endpoint that is on fails", async () => {
    await addEndpoint();
    await succeeded();
    await record((await claim())[0] as DeliveryLease, failure);
    expect(await on.stores.endpoints.enable(endpointId(1), owner)).toEqual(ok(undefined));
    expect((await endpoint())?.failingSince).toEqual(now);
  });

  describe("switchOff", () => {
    it("switches an endpoint off once, and gives up pending deliveries", async () => {
      await addEndpoint();
      await succeeded();
      expect(await on.stores.deliveries.switchOff(anEndpoint(), "gone", now, now)).toBe(true);
      expect(await on.stores.deliveries.switchOff(anEndpoint(), "gone", now, now)).toBe(false);
      expect((await endpoint())?.off).toEqual({ at: now, reason: "gone" });
      expect(await claim()).toEqual([]);
      const [given] = await on.stores.deliveries.list(owner, 1, undefined);
      expect(given?.delivery).toMatchObject({
        state: "failed",
        detail: "the endpoint is switched off",
        endedAt: now,
      });
    });

    it("does not switch off an endpoint that has succeeded, or has failed for too short a time", async () => {
      await addEndpoint();
      await succeeded();
      expect(await on.stores.deliveries.switchOff(anEndpoint(), "failing", now, now)).toBe(false);
      const [lease] = await claim();
      await record(lease as DeliveryLease, failure, now);
      expect(await on.stores.deliveries.switchOff(anEndpoint(), "failing", now, secondsAfter(now, -1))).toBe(false);
      expect(await on.stores.deliveries.switchOff(anEndpoint(), "failing", now, now)).toBe(true);
    });

    it("gives up pending deliveries of a deleted endpoint, and still lists them", async () => {
      await addEndpoint();
      await succeeded();
      await on.stores.endpoints.delete(endpointId(1), owner, now);
      expect(await claim()).toEqual([]);
      expect((await on.stores.deliveries.list(owner, 1, undefined))[0]?.delivery.state).toBe("failed");
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
      const first = await on.stores.deliveries.list(owner, 2, undefined);
      expect(first.map(({ event }) => event.number)).toEqual([3, 2]);
      const second = await on.stores.deliveries.list(owner, 2, first[1]?.id);
      expect(second.map(({ event }) => event.number)).toEqual([1]);
    });

    it("sends an event again, as the same event, also while another worker has the old lease", async () => {
      await addEndpoint();
      await succeeded();
      const [lease] = (await claim()) as [DeliveryLease];
      expect(await on.stores.deliveries.resend(lease.id, owner, now)).toEqual(ok(undefined));
      await record(lease, success);
      const [again] = (await claim()) as [DeliveryLease];
      expect([again.id, again.event, again.delivery.attempts]).toEqual([lease.id, lease.event, 0]);
      await record(again, success);
      expect(await on.stores.deliveries.resend(lease.id, owner, now)).toEqual(ok(undefined));
      expect(names(await claim())).toEqual(["1 panorama.succeeded"]);
    });

    it("refuses to send again for another account, and to an endpoint that is switched off", async () => {
      await addEndpoint();
      await succeeded();
      const id = (await on.stores.deliveries.list(owner, 1, undefined))[0]?.id ?? 0;
      const unknown = err(notFound(`There is no delivery ${id} on this account.`));
      expect(await on.stores.deliveries.resend(id, other, now)).toEqual(unknown);
      await on.stores.deliveries.switchOff(anEndpoint(), "gone", now, now);
      expect(await on.stores.deliveries.resend(id, owner, now)).toEqual(err({ kind: "endpoint_off" }));
    });
  });

  it("deleteEvents forgets receivers to which nothing was sent since", async () => {
    await addEndpoint();
    await succeeded();
    await on.stores.deliveries.deleteEvents(secondsAfter(noon, 1), 10);
    const [lease] = await claim();
    expect(lease?.receiver.verifiedAt).toBeUndefined();
  });

  it("deleteEvents deletes the oldest events with their deliveries, and keeps the others", async () => {
    await addEndpoint();
    for (const n of [1, 2, 3]) await succeeded(n);
    expect(await on.stores.deliveries.deleteEvents(end, 100)).toBe(0);
    expect(await on.stores.deliveries.deleteEvents(secondsAfter(end, 1), 2)).toBe(2);
    expect(await listed()).toHaveLength(1);
    await succeeded(4);
    expect((await listed()).at(-1)).toBe("4 panorama.succeeded");
    await on.stores.endpoints.delete(endpointId(1), owner, end);
    expect(await on.stores.deliveries.deleteEvents(secondsAfter(end, 1), 100)).toBe(2);
    expect(await listed()).toEqual([]);
  });

  describe("an event that is sent again during an attempt", () => {
    const claimAt = (seconds: number) => claim(100, 100, [], secondsAfter(now, seconds));
    const resend = (lease: DeliveryLease, seconds = 1) =>
      on.stores.deliveries.resend(lease.id, owner, secondsAfter(now, seconds));

    it("starts the resend after the running attempt, only once", async () => {
      await addEndpoint();
      for (const n of [1, 2]) await succeeded(n);
      const [one, two] = (await claim()) as [DeliveryLease, DeliveryLease];
      for (const seconds of [1, 2, 3]) {
        for (const lease of [one, two]) expect(await resend(lease, seconds)).toEqual(ok(undefined));
        expect(await claimAt(seconds)).toEqual([]);
      }
      await record(one, success, secondsAfter(now, 4));
      await record(two, failure, secondsAfter(now, 4));
      const again = await claimAt(4);
      expect(again).toMatchObject([
        { id: one.id, fence: 2, delivery: { attempts: 0, detail: success.detail } },
        { id: two.id, fence: 2, delivery: { attempts: 0, detail: failure.detail } },
      ]);
      for (const lease of again) await record(lease, success, secondsAfter(now, 5));
      const ended = await on.stores.deliveries.list(owner, 2, undefined);
      expect(ended.map(({ delivery }) => delivery.state)).toEqual(["delivered", "delivered"]);
    });

    it("the late result of the old attempt does not end the resend", async () => {
      await addEndpoint();
      for (const n of [1, 2]) await succeeded(n);
      const [early, late] = (await claim()) as [DeliveryLease, DeliveryLease];
      await resend(early);
      await resend(late, 30);
      await record(late, success, secondsAfter(now, 31));
      expect((await claimAt(31)).map(({ id }) => id)).toEqual([early.id, late.id]);
    });

    it("does not make later events wait for the pause after that attempt", async () => {
      await addEndpoint();
      await saved();
      const [lease] = (await claim()) as [DeliveryLease];
      await resend(lease);
      await record(lease, failure, secondsAfter(now, 2));
      await record((await claimAt(2))[0] as DeliveryLease, success, secondsAfter(now, 3));
      expect(names(await claimAt(3))).toEqual(["2 panorama.saved"]);
    });

    it("follows a probe of its lane without the pause", async () => {
      await addEndpoint();
      await setReceiver(endpointId(1), { verifiedAt: noon, failures: 3, nextAt: noon });
      for (const n of [1, 2]) await succeeded(n);
      const [other] = await on.stores.deliveries.list(owner, 1, undefined);
      const wanted = other?.id ?? 0;
      const [probe] = (await claim()) as [DeliveryLease];
      expect(await on.stores.deliveries.resend(wanted, owner, now)).toEqual(ok(undefined));
      expect(await claimAt(1)).toEqual([]);
      await record(probe, failure, secondsAfter(now, 2));
      const next = await claimAt(2);
      expect(next.map(({ id, receiver }) => [id, receiver.failures])).toEqual([[wanted, 4]]);
    });

    it("is claimed although the clock was set back since the attempt began", async () => {
      await addEndpoint();
      await succeeded();
      const [lease] = (await claim()) as [DeliveryLease];
      const earlier = secondsAfter(now, -10_000);
      await on.stores.deliveries.resend(lease.id, owner, earlier);
      expect(await claim(100, 100, [], earlier)).toEqual([]);
      await on.stores.deliveries.bringForward(secondsAfter(earlier, 9_000), earlier);
      expect(await claim(100, 100, [], earlier)).toHaveLength(1);
    });
  });
};
