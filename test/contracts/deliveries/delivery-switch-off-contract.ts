import { expect, it } from "vitest";
import { anEndpoint, endpointId, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import type { DeliveryLease } from "../../../application/ports/stores/webhook-stores.js";
import type { DeliverySetup } from "./delivery-setup.js";

/** When an endpoint is switched off, and what becomes of its deliveries. */
export const describeSwitchOff = (on: DeliverySetup): void => {
  const { owner, now, failure, succeeded, addEndpoint, listed, claim, record, endpoint } = on;

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
};
