import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { anEndpoint, endpointId, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import type { DeliveryLease } from "../../../application/ports/stores/webhook-stores.js";
import type { AttemptResult } from "../../../domain/webhooks/webhook-delivery.js";
import { newReceiver } from "../../../domain/webhooks/webhook-receiver.js";
import type { DeliverySetup } from "./delivery-setup.js";

/** How many leases a receiver has that has confirmed nothing, or does not answer. */
export const describeReceivers = (on: DeliverySetup): void => {
  const {
    owner,
    other,
    now,
    until,
    failure,
    success,
    succeeded,
    addNewEndpoint,
    addEndpoint,
    setReceiver,
    claim,
    names,
    record,
  } = on;

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
