import { beforeEach, describe, expect, it, vi } from "vitest";
import { apiKeyId } from "../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { type OpenKeys, openKeys } from "../../../application/accounts/api-requests.js";
import { NO_LIMITS } from "../../../domain/accounts/key-limits.js";

describe("openKeys", () => {
  const [one, other] = [apiKeyId(1), apiKeyId(2)];
  let clock: HandClock;
  let keys: OpenKeys;
  beforeEach(() => {
    clock = new HandClock();
    keys = openKeys({ clock });
  });
  const hold = (id = one, milliseconds?: number, client = new AbortController()) => {
    const expiresAt = milliseconds === undefined ? undefined : new Date(clock.now().getTime() + milliseconds);
    const held = keys.watch({ id, expiresAt }, client.signal);
    return { ...held, client, state: () => [held.signal.aborted, held.isKeyUnusable()] };
  };

  it("lists a key until its last request ends, which does not make the key unusable", () => {
    const [first, second, third] = [hold(), hold(), hold(other)];
    const listeners = vi.spyOn(first.client.signal, "removeEventListener");
    expect(keys.ids()).toEqual([one, other]);
    first.release();
    expect(keys.ids()).toEqual([one, other]);
    second.client.abort();
    expect(keys.ids()).toEqual([other]);
    expect(listeners).toHaveBeenCalledExactlyOnceWith("abort", first.release);
    const again = hold();
    first.release();
    expect(keys.ids()).toEqual([other, one]);
    again.release();
    expect([first, second, third].map(({ state }) => state())).toEqual([
      [true, false],
      [true, false],
      [false, false],
    ]);
    const disconnected = new AbortController();
    disconnected.abort();
    expect(hold(one, undefined, disconnected).state()).toEqual([true, false]);
    expect(keys.ids()).toEqual([other]);
  });

  it("ends the requests of keys that are not live, or whose limits refuse a read, and no others", () => {
    const [gone, fine, unnamed, released] = [hold(), hold(other), hold(apiKeyId(3)), hold()];
    released.release();
    keys.endUnusable([one, other, apiKeyId(4)], new Map([[other, NO_LIMITS]]));
    expect([gone, fine, unnamed, released].map(({ state }) => state())).toEqual([
      [true, true],
      [false, false],
      [false, false],
      [true, false],
    ]);
    keys.endUnusable([other], new Map([[other, { ...NO_LIMITS, scopes: ["create"] as const }]]));
    expect(fine.state()).toEqual([true, true]);
    expect(keys.ids()).toEqual([apiKeyId(3)]);
  });

  it("ends a request when its key expires within an hour", async () => {
    const hour = 3_600_000;
    const [soon, atLimit, later, ended] = [hold(one, 1_000), hold(one, hour), hold(one, hour + 1), hold(one, 1_000)];
    ended.release();
    expect(clock.sleeping).toBe(2);
    await clock.advance(999);
    expect(soon.state()).toEqual([false, false]);
    await clock.advance(1);
    expect([soon, ended].map(({ state }) => state())).toEqual([
      [true, true],
      [true, false],
    ]);
    await clock.advance(hour);
    expect([atLimit, later].map(({ state }) => state())).toEqual([
      [true, true],
      [false, false],
    ]);
  });
});
