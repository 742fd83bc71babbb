import { err, ok } from "neverthrow";
import { expect, it } from "vitest";
import { anEndpoint } from "../../../adapters/contracts/support/builders.js";
import { notFound } from "../../../application/errors.js";
import type { DeliveryLease } from "../../../application/ports/stores/webhook-stores.js";
import type { DeliverySetup } from "./delivery-setup.js";

/** What an account sees of its deliveries, and sends again. */
export const describeDeliveryList = (on: DeliverySetup): void => {
  const { owner, other, now, success, succeeded, addEndpoint, claim, names, record } = on;

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
};
