import { expect, it } from "vitest";
import { secondsAfter } from "../../../adapters/contracts/support/builders.js";
import type { DeliveryLease } from "../../../application/ports/stores/webhook-stores.js";
import type { DeliverySetup } from "./delivery-setup.js";

/** What the store keeps of an attempt. */
export const describeRecords = (on: DeliverySetup): void => {
  const { owner, now, until, failure, success, succeeded, addEndpoint, claim, record, endpoint } = on;

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
};
