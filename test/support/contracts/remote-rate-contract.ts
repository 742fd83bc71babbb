import { expect, it } from "vitest";
import { refuses } from "../faulty-server.js";
import type { RemoteSetup } from "./remote-setup.js";

/** How a RemoteProvider keeps to the call rate of its provider, and pauses when it is told to. */
export const describeRemoteRates = (on: RemoteSetup): void => {
  const { anOrder, start, defaults, submitted, polled, requests, creations } = on;

  it.each([
    ["for the default time without Retry-After", {}, defaults.pauseSeconds * 1_000],
    ["for the seconds in Retry-After", { "retry-after": "7" }, 7_000],
    ["until the date in Retry-After", { "retry-after": "Thu, 01 Jan 2026 12:00:20 GMT" }, 20_000],
    ["for at most a minute", { "retry-after": "3600" }, 60_000],
    ["for at least a second", { "retry-after": "0" }, 1_000],
  ])("pauses reads after a 429 %s", async (_, headers, milliseconds) => {
    const id = await submitted();
    on.remote.fake.faults.polls.push(refuses(429, headers));
    expect((await on.remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    const before = requests();
    await on.clock.advance(milliseconds - 1);
    expect((await on.remote.provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    expect(requests()).toBe(before);
    await on.clock.advance(1);
    expect((await polled(id)).state).toBe("succeeded");
  });

  it("delays the next poll and sends no creation during a pause", async () => {
    const id = await submitted();
    expect(on.remote.provider.nextPollMilliseconds(id, 0)).toBeLessThanOrEqual(3_600);
    expect(on.remote.provider.nextPollMilliseconds(id, 60_001)).toBeGreaterThanOrEqual(4_000);
    on.remote.fake.faults.polls.push(refuses(503, { "retry-after": "30" }));
    await on.remote.provider.poll(id);
    expect(on.remote.provider.nextPollMilliseconds(id, 0)).toBeGreaterThanOrEqual(10_000);
    const busy = (await on.remote.provider.submit(anOrder(2)))._unsafeUnwrapErr();
    expect(busy).toEqual({
      kind: "busy",
      reason: "calls to the provider are paused for 30 more seconds",
    });
    expect(creations()).toBe(1);
    await on.clock.advance(30_000);
    expect((await on.remote.provider.submit(anOrder(2))).isOk()).toBe(true);
  });

  it("pauses after three refused creations in a row, and lets a creation wait for the end of a short pause", async () => {
    const other = await start({ clock: on.clock, submitTimeoutMilliseconds: 30_000 });
    for (const n of [1, 2, 3]) {
      expect(other.provider.readiness()).toBe("ready");
      other.fake.faults.creates.push(refuses(429, { "retry-after": "3" }));
      expect((await other.provider.submit(anOrder(n)))._unsafeUnwrapErr().kind).toBe("busy");
    }
    expect(other.provider.readiness()).toBe("busy");
    const waiting = other.provider.submit(anOrder(4));
    await on.clock.advance(2_999);
    expect(other.fake.server.requests).toHaveLength(3);
    await on.clock.advance(1);
    expect((await waiting).isOk()).toBe(true);
    await other.close();
  });

  it("uses callsPerSecond and concurrencyMax of the settings, and makes no call above the limit", async () => {
    const limits = { callsPerSecond: 5, concurrencyMax: 40 };
    const other = await start({ clock: on.clock, submitTimeoutMilliseconds: 30_000, ...limits });
    const { fake, provider } = other;
    expect(provider.places()[0]?.concurrencyMax).toBe(40);
    Object.assign(fake, { now: () => on.clock.now() });
    fake.limits.callsPerSecond = 5;
    const submissions = Array.from({ length: 12 }, (_, n) => provider.submit(anOrder(n + 1)));
    for (let sent = 1; sent <= 12; sent += 1) {
      await expect.poll(() => fake.server.requests.length, { interval: 5 }).toBe(sent);
      await on.clock.advance(200);
    }
    expect((await Promise.all(submissions)).every((submission) => submission.isOk())).toBe(true);
    expect(fake.refusedCalls).toBe(0);
    await other.close();
  });

  it("reports calls above the provider's limit as not sent or unavailable, and respects Retry-After", async () => {
    const { fake, provider } = on.remote;
    Object.assign(fake, { now: () => on.clock.now() });
    Object.assign(fake.limits, { callsPerSecond: 2, retryAfterSeconds: 4 });
    const id = await submitted();
    (await provider.submit(anOrder(2)))._unsafeUnwrap();
    expect((await provider.poll(id))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    expect(fake.refusedCalls).toBe(1);
    expect(provider.readiness()).toBe("busy");
    await on.clock.advance(3_999);
    expect(provider.readiness()).toBe("busy");
    await on.clock.advance(1);
    expect((await polled(id)).state).toBe("succeeded");
  });

  it("submits the others while every third creation is refused, each once, without a pause", async () => {
    const { fake, provider } = on.remote;
    fake.limits.everyThirdCreation = true;
    const accepted: boolean[] = [];
    for (let n = 1; n <= 9; n += 1) accepted.push((await provider.submit(anOrder(n))).isOk());
    expect(accepted).toEqual([true, true, false, true, true, false, true, true, false]);
    expect(provider.readiness()).toBe("ready");
    expect([creations(), fake.tasks.length, fake.refusedCalls]).toEqual([9, 6, 3]);
  });

  it("uses the default callsPerSecond and concurrencyMax of the dialect", async () => {
    const other = await start({ clock: on.clock, callsPerSecond: undefined, submitTimeoutMilliseconds: 30_000 });
    expect(other.provider.places()[0]?.concurrencyMax).toBe(defaults.concurrencyMax);
    const submissions = [1, 2].map((n) => other.provider.submit(anOrder(n)));
    await expect.poll(() => other.fake.server.requests.length, { interval: 5 }).toBe(1);
    await on.clock.advance(1_000 / defaults.callsPerSecond - 1);
    expect(on.clock.sleeping).toBe(1);
    await on.clock.advance(1);
    expect((await Promise.all(submissions)).every((submission) => submission.isOk())).toBe(true);
    await other.close();
  });
};
