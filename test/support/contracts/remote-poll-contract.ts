import { expect, it } from "vitest";
import { FAULTS, type Fault, refuses } from "../faulty-server.js";
import { manualTimeouts, type RemoteSetup } from "./remote-setup.js";

/** What a RemoteProvider reports about a generation that it polls. */
export const describeRemotePolls = (on: RemoteSetup): void => {
  const { defaults, submitted, polled, requests } = on;

  it("reports a task as running until it has ended", async () => {
    on.remote.fake.plan = "run";
    const id = await submitted();
    expect(await polled(id)).toEqual({ state: "running" });
    on.remote.fake.plan = "succeed";
    expect(await polled(id)).toMatchObject({
      state: "succeeded",
      temporaryUrl: expect.stringContaining(on.remote.fake.server.url),
    });
  });

  it.each([
    ["fail", /^the provider ended it as [^:]+$/, {}],
    ["be cancelled", /^the provider ended it as [^:]+$/, defaults.canceled ?? {}],
    ["be moderated", /^the provider ended it as [^:]+: its content rules$/, { cause: "content_refused" }],
  ] as const)("reports a task as failed without the provider's text when the plan is: %s", async (...expected) => {
    const [plan, reason, cause] = expected;
    on.remote.fake.plan = plan;
    const failed = { state: "failed", reason: expect.stringMatching(reason), ...cause };
    expect(await polled(await submitted())).toEqual(failed);
  });

  if (!defaults.hasNoStatus) {
    it("reports a task with an unknown status as running and warns once", async () => {
      on.remote.fake.plan = "report an unknown status";
      const id = await submitted();
      expect(await polled(id)).toEqual({ state: "running" });
      expect(await polled(id)).toEqual({ state: "running" });
      expect(on.warnings).toEqual([expect.stringMatching(/unknown status, "simmering"/i)]);
    });
  }

  it("reports a task that is not found as running for 60 seconds, then as failed", async () => {
    on.remote.fake.plan = "be lost";
    const id = await submitted();
    expect(await polled(id)).toEqual({ state: "running" });
    await on.clock.advance(59_999);
    expect(await polled(id)).toEqual({ state: "running" });
    await on.clock.advance(1);
    expect((await polled(id)).state).toBe("failed");
  });

  it.each<[string, Fault]>([
    ["status 500", FAULTS.failsBefore],
    ["status 401", refuses(401)],
    ["a cut connection", FAULTS.cutBefore],
    ["HTML instead of JSON", FAULTS.html],
    ["cut JSON", FAULTS.cutJson],
  ])("reports %s at a poll as unavailable, and the result at the next poll", async (_, fault) => {
    const id = await submitted();
    on.remote.fake.faults.polls.push(fault);
    expect((await on.remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    expect((await polled(id)).state).toBe("succeeded");
  });

  it("reports a poll without an answer as unavailable after 10 seconds", async () => {
    const id = await submitted();
    const timeouts = manualTimeouts();
    on.remote.fake.faults.polls.push(FAULTS.noAnswerAfter);
    const polling = on.remote.provider.poll(id);
    await expect.poll(requests, { interval: 5 }).toBe(2);
    timeouts.expire();
    expect((await polling)._unsafeUnwrapErr()).toEqual({ kind: "provider_unavailable", reason: "TimeoutError" });
    expect(timeouts.requested).toEqual([10_000]);
  });
};
