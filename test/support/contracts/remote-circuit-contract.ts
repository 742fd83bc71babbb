import { beforeEach, describe, expect, it } from "vitest";
import { FAULTS, refuses } from "../faulty-server.js";
import { manualTimeouts, type RemoteSetup } from "./remote-setup.js";

/** What a RemoteProvider sends to a provider that does not respond. */
export const describeRemoteCircuit = (on: RemoteSetup): void => {
  const { anOrder, submitted, polled, requests } = on;

  describe("when the provider does not respond", () => {
    let id: string;
    beforeEach(async () => {
      id = await submitted();
      on.remote.fake.faults.creates.push(...Array.from({ length: 5 }, () => FAULTS.cutBefore));
      for (let n = 2; n < 7; n += 1) {
        expect((await on.remote.provider.submit(anOrder(n)))._unsafeUnwrapErr().kind).toBe("unknown");
      }
    });

    it("sends nothing, refuses creations immediately and delays polls", async () => {
      const before = requests();
      expect(on.remote.provider.readiness()).toBe("down");
      expect((await on.remote.provider.submit(anOrder(7)))._unsafeUnwrapErr()).toEqual({
        kind: "refused",
        reason: expect.stringContaining("the provider does not respond"),
        cause: "provider_unavailable",
      });
      expect((await on.remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      expect(on.remote.provider.nextPollMilliseconds(id, 0)).toBeGreaterThanOrEqual(10_000);
      expect(requests()).toBe(before);
    });

    it("probes with a poll and is ready again when that is answered", async () => {
      await on.clock.advance(10_000);
      expect(on.remote.provider.readiness()).toBe("probing");
      on.remote.fake.faults.polls.push(refuses(503));
      expect((await on.remote.provider.poll(id)).isErr()).toBe(true);
      expect(on.remote.provider.readiness()).toBe("down");
      await on.clock.advance(20_000);
      expect((await polled(id)).state).toBe("succeeded");
      expect(on.remote.provider.readiness()).toBe("ready");
      expect((await on.remote.provider.submit(anOrder(7))).isOk()).toBe(true);
      expect(on.circuit).toEqual(["closed", "open", "half-open", "open", "half-open", "closed"]);
    });

    it("probes with a creation and sends nothing else until it is answered", async () => {
      await on.clock.advance(10_000);
      const before = requests();
      const timeouts = manualTimeouts();
      on.remote.fake.faults.creates.push(FAULTS.noAnswerAfter);
      const probe = on.remote.provider.submit(anOrder(7));
      await expect.poll(requests, { interval: 5 }).toBe(before + 1);
      expect(on.remote.provider.readiness()).toBe("down");
      expect((await on.remote.provider.submit(anOrder(8)))._unsafeUnwrapErr().kind).toBe("refused");
      expect((await on.remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
      timeouts.expire();
      expect((await probe)._unsafeUnwrapErr().kind).toBe("unknown");
      expect(on.remote.provider.readiness()).toBe("down");
      expect(requests()).toBe(before + 1);
    });
  });

  it("still sends creations while every poll of one task fails with 500", async () => {
    const id = await submitted();
    on.remote.fake.faults.polls.push(...Array.from({ length: 10 }, () => FAULTS.failsBefore));
    for (let n = 0; n < 10; n += 1) expect((await on.remote.provider.poll(id)).isErr()).toBe(true);
    expect(on.remote.provider.readiness()).toBe("ready");
    expect((await on.remote.provider.submit(anOrder(2))).isOk()).toBe(true);
  });
};
