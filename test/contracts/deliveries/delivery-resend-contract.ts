import { ok } from "neverthrow";
import { expect, it } from "vitest";
import { endpointId, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import type { DeliveryLease } from "../../../application/ports/stores/webhook-stores.js";
import type { DeliverySetup } from "./delivery-setup.js";

/** An event that is sent again while an attempt to send it is in flight. */
export const describeResends = (on: DeliverySetup): void => {
  const { owner, now, failure, success, succeeded, saved, addEndpoint, setReceiver, claim, names, record } = on;
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
};
