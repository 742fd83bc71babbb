import { expect, it } from "vitest";
import { endpointId, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import type { DeliverySetup } from "./delivery-setup.js";

/** What `deleteEvents` deletes, and what it keeps. */
export const describeEventDeletion = (on: DeliverySetup): void => {
  const { owner, end, succeeded, addEndpoint, listed, claim } = on;

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
};
