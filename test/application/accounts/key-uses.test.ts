import { beforeEach, describe, expect, it } from "vitest";
import { apiKeyId, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { keyUses } from "../../../application/accounts/api-requests.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";

describe("keyUses", () => {
  let now: Date;
  let written: ReadonlyMap<ApiKeyId, Date>[];
  let available: boolean;
  let uses: ReturnType<typeof keyUses>;

  beforeEach(() => {
    now = noon;
    written = [];
    available = true;
    const recordUses = async (some: ReadonlyMap<ApiKeyId, Date>) => {
      if (!available) throw new Error("unreachable");
      written.push(some);
    };
    uses = keyUses({ keys: { recordUses }, clock: { now: () => now, sleep: async () => {} } });
  });

  it("writes one last use per key for many uses", async () => {
    for (let n = 0; n < 100; n += 1) uses.note(apiKeyId(1));
    now = secondsAfter(noon, 5);
    uses.note(apiKeyId(2));
    uses.note(apiKeyId(1));
    await uses.flush();
    const last = secondsAfter(noon, 5);
    expect(written).toEqual([new Map([apiKeyId(1), apiKeyId(2)].map((id) => [id, last]))]);
  });

  it("writes nothing if no key was used since the last time", async () => {
    await uses.flush();
    uses.note(apiKeyId(1));
    await uses.flush();
    await uses.flush();
    expect(written).toHaveLength(1);
  });

  it.each([
    ["once an hour", { 0: true, 60: false, 3599: false, 3600: true, 3700: false }],
    ["again after the clock was set back by an hour", { 0: true, "-3599": false, "-3600": true }],
  ])("writes the uses of a busy key at most %s, and the last one at the end", async (_, times) => {
    for (const [second, isWritten] of Object.entries(times)) {
      written = [];
      now = secondsAfter(noon, Number(second));
      uses.note(apiKeyId(1));
      await uses.flush();
      expect(written).toEqual(isWritten ? [new Map([[apiKeyId(1), now]])] : []);
    }
    const isLeft = written.length === 0;
    await uses.flushAll();
    await uses.flushAll();
    expect(written).toEqual([new Map([[apiKeyId(1), now]])]);
    expect(isLeft).toBe(now > noon);
  });

  it("keeps a use that is noted while an earlier one is being written", async () => {
    uses.note(apiKeyId(1));
    const flushed = uses.flush();
    now = secondsAfter(noon, 1);
    uses.note(apiKeyId(1));
    await flushed;
    await uses.flushAll();
    expect(written).toEqual([new Map([[apiKeyId(1), noon]]), new Map([[apiKeyId(1), secondsAfter(noon, 1)]])]);
  });

  it("writes the latest uses after a failed write", async () => {
    uses.note(apiKeyId(1));
    uses.note(apiKeyId(2));
    available = false;
    const flushed = expect(uses.flush()).rejects.toThrow("unreachable");
    now = secondsAfter(noon, 1);
    uses.note(apiKeyId(1));
    await flushed;
    available = true;
    await uses.flush();
    expect(written).toEqual([
      new Map([
        [apiKeyId(1), secondsAfter(noon, 1)],
        [apiKeyId(2), noon],
      ]),
    ]);
  });
});
