import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { advanceUntil } from "../advance-until.js";
import { FAULTS, type Fault, refuses } from "../faulty-server.js";
import type { ExpectedDefaults, RemoteSetup } from "./remote-setup.js";

/** How a dialect cancels a generation. */
export const describeCancels = (on: RemoteSetup, defaults: ExpectedDefaults): void => {
  const { anOrder, submitted, polled, succeeded } = on;

  const changes = () => on.remote.fake.server.requests.filter(({ method }) => method !== "GET").length;
  const running = async (waiting: boolean) => {
    on.remote.fake.plan = "run";
    on.remote.fake.waiting = waiting;
    return submitted();
  };
  const cancel = async (id: string) => (await on.remote.provider.cancel(id))._unsafeUnwrap();

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
    const canceled = await on.remote.provider.cancel(`${await running(true)}0`);
    expect(canceled.unwrapOr("too_late")).toBe("too_late");
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
        const canceled = await on.remote.provider.cancel(id);
        expect(canceled.unwrapOr("too_late")).toBe("too_late");
        expect(await polled(id)).toEqual({ state: "running" });
      });

      it("is not confirmed if the answer is lost; a poll finds the end", async () => {
        const id = await running(true);
        on.remote.fake.faults.cancels.push(FAULTS.cutAfter);
        expect((await on.remote.provider.cancel(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
        on.remote.fake.plan = "succeed";
        expect((await polled(id)).state).not.toBe("succeeded");
      });

      it.each([
        [3, "canceled"],
        [Number.POSITIVE_INFINITY, "too_late"],
      ])("whose stop has an effect after %s reads returns %s", async (reads, expected) => {
        const id = await running(!defaults.interrupts);
        on.remote.fake.readsUntilCanceled = reads;
        const before = on.requests();
        const canceling = on.remote.provider.cancel(id);
        await advanceUntil(on.clock, canceling);
        expect(await canceling).toEqual(ok(expected));
        expect(on.requests() - before).toBeLessThan(20);
        if (expected === "too_late") expect(await polled(id)).toEqual({ state: "running" });
        on.remote.fake.plan = "succeed";
        expect((await polled(id)).state === "succeeded").toBe(expected === "too_late");
      });
    });
};
