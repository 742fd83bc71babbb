import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { advanceUntil } from "../advance-until.js";
import { FAULTS, type Fault, refuses } from "../faulty-server.js";
import type { RemoteSetup } from "./remote-setup.js";

/** How a RemoteProvider cancels a generation. */
export const describeRemoteCancels = (on: RemoteSetup): void => {
  const { anOrder, defaults, submitted, polled, succeeded, requests } = on;

  const changes = () => on.remote.fake.server.requests.filter(({ method }) => method !== "GET").length;
  const running = async (waiting: boolean) => {
    on.remote.fake.plan = "run";
    on.remote.fake.waiting = waiting;
    return submitted();
  };
  const cancel = async (id: string) => (await on.remote.provider.cancel?.(id))?._unsafeUnwrap();

  if (!defaults.interrupts) {
    it("of a started generation sends nothing, and the task continues", async () => {
      const id = await running(false);
      const sent = changes();
      expect(await cancel(id)).toBe("too_late");
      expect(changes()).toBe(sent);
      expect(await polled(id)).toEqual({ state: "running" });
      on.remote.fake.plan = "succeed";
      expect((await polled(id)).state).toBe("succeeded");
    });
  }

  it("of an ended generation sends nothing, and its end stays", async () => {
    const { id } = await succeeded();
    const sent = changes();
    expect(await cancel(id)).toBe("too_late");
    expect(changes()).toBe(sent);
    expect((await polled(id)).state).toBe("succeeded");
  });

  it("of an unknown generation is not confirmed", async () => {
    const canceled = await on.remote.provider.cancel?.(`${await running(true)}0`);
    expect(canceled?.unwrapOr("too_late")).toBe("too_late");
  });

  if (defaults.cancels)
    describe("of a generation that waits in the provider's queue", () => {
      it("stops it, and nothing else", async () => {
        const id = await running(true);
        const other = (await on.remote.provider.submit(anOrder(2)))._unsafeUnwrap();
        expect(await cancel(id)).toBe("canceled");
        expect(changes()).toBe(3);
        on.remote.fake.plan = "succeed";
        expect((await polled(id)).state).not.toBe("succeeded");
        expect((await polled(other)).state).toBe("succeeded");
      });

      it.each<[string, Fault]>([
        ["is refused", refuses(500)],
        ["is refused because of the key", refuses(401)],
        ["is not received", FAULTS.cutBefore],
      ])("is not confirmed if the call %s, and the task continues", async (_, fault) => {
        const id = await running(true);
        on.remote.fake.faults.cancels.push(fault);
        const canceled = await on.remote.provider.cancel?.(id);
        expect(canceled?.unwrapOr("too_late")).toBe("too_late");
        expect(await polled(id)).toEqual({ state: "running" });
      });

      it("does not confirm it if the answer is lost; a poll finds the end", async () => {
        const id = await running(true);
        on.remote.fake.faults.cancels.push(FAULTS.cutAfter);
        expect((await on.remote.provider.cancel?.(id))?._unsafeUnwrapErr().kind).toBe("provider_unavailable");
        on.remote.fake.plan = "succeed";
        expect((await polled(id)).state).not.toBe("succeeded");
      });

      it("waits for a provider that accepts the call before it stops the generation", async () => {
        const id = await running(true);
        on.remote.fake.readsUntilCanceled = 3;
        const canceling = on.remote.provider.cancel?.(id);
        await advanceUntil(on.clock, Promise.resolve(canceling));
        expect(await canceling).toEqual(ok("canceled"));
        on.remote.fake.plan = "succeed";
        expect((await polled(id)).state).not.toBe("succeeded");
      });

      it("is not confirmed if the provider has not stopped it after some seconds, and the task continues", async () => {
        const id = await running(true);
        on.remote.fake.readsUntilCanceled = Number.POSITIVE_INFINITY;
        const before = requests();
        const canceling = on.remote.provider.cancel?.(id);
        await advanceUntil(on.clock, Promise.resolve(canceling));
        expect(await canceling).toEqual(ok("too_late"));
        expect(requests() - before).toBeLessThan(20);
        expect(await polled(id)).toEqual({ state: "running" });
      });

      it("sends one call, and none while the provider is paused", async () => {
        const id = await running(true);
        on.remote.fake.faults.polls.push(refuses(429, { "retry-after": "20" }));
        on.remote.fake.faults.lists.push(refuses(429, { "retry-after": "20" }));
        await on.remote.provider.poll(id);
        const sent = requests();
        expect((await on.remote.provider.cancel?.(id))?.isErr()).toBe(true);
        expect(requests()).toBe(sent);
      });

      it("stops no creations although every call for it fails with 500", async () => {
        const id = await running(true);
        for (let n = 0; n < 6; n += 1) {
          on.remote.fake.faults.cancels.push(refuses(500));
          await on.remote.provider.cancel?.(id);
        }
        expect(on.remote.provider.readiness()).toBe("ready");
      });
    });
};
