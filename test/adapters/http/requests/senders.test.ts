import { afterEach, describe, expect, it, vi } from "vitest";
import { parseTrustedProxies } from "../../../../adapters/http/requests/client-address.js";
import { Senders } from "../../../../adapters/http/requests/senders.js";
import { RecentMap } from "../../../../adapters/system/recent-map.js";

describe("Senders", () => {
  const sent = (forwardedFor: string) => ({
    peerAddress: "10.0.0.1",
    header: (name: string) => (name === "x-forwarded-for" ? forwardedFor : undefined),
  });

  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("return the network of a request behind proxies for headers of any length, and cache short headers only", () => {
    const senders = new Senders(parseTrustedProxies("10.0.0.0/8") ?? []);
    const keep = vi.spyOn(RecentMap.prototype, "set");
    for (const invented of ["", "203.0.113.7, ", `${"9".repeat(15_000)}, `]) {
      expect(senders.of(sent(`${invented}192.0.2.1`))).toBe("network 192.0.2.1");
      expect(senders.of(sent(`${invented}192.0.2.1`))).toBe("network 192.0.2.1");
    }
    expect(keep.mock.calls.map(([key]) => key)).toEqual(["10.0.0.1 192.0.2.1", "10.0.0.1 203.0.113.7, 192.0.2.1"]);
  });
});
