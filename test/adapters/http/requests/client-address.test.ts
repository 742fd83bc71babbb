import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  clientAddress,
  parseTrustedProxies,
  type TrustedProxies,
} from "../../../../adapters/http/requests/client-address.js";

const proxies = (list: string): TrustedProxies => {
  const parsed = parseTrustedProxies(list);
  if (parsed === undefined) throw new Error(`${list} is no list of networks`);
  return parsed;
};

describe("clientAddress", () => {
  const trusted = proxies("127.0.0.0/8, ::1, 10.0.0.0/8, 2001:db8:cafe::/48");

  it.each([
    ["203.0.113.9", undefined, "203.0.113.9"],
    ["203.0.113.9", "198.51.100.1", "203.0.113.9"], // a client outside can send any header
    ["192.168.0.1", "198.51.100.1", "192.168.0.1"], // private, but not in the list
    ["127.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["0000:0000:0000:0000:0000:0000:0000:0001", "198.51.100.1", "198.51.100.1"],
    ["::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["::ffff:203.0.113.9", undefined, "203.0.113.9"],
    ["10.1.2.3", "192.0.2.66, 198.51.100.1", "198.51.100.1"], // the client wrote the addresses before the last one
    ["127.0.0.1", "192.0.2.66, 198.51.100.1, 10.9.9.9,2001:db8:cafe::7", "198.51.100.1"], // three proxies in a row
    ["127.0.0.1", "10.0.0.5, 10.0.0.6", "10.0.0.5"], // a client inside the network of the proxies
    ["127.0.0.1", "unknown", "127.0.0.1"],
    ["127.0.0.1", "198.51.100.1, unknown, 10.0.0.6", "10.0.0.6"],
    ["127.0.0.1", "0x7f.1", "127.0.0.1"],
    ["127.0.0.1", "", "127.0.0.1"],
    ["127.0.0.1", undefined, "127.0.0.1"],
  ])("for the peer %s with x-forwarded-for %s is %s", (peer, forwardedFor, address) => {
    expect(clientAddress(peer, forwardedFor, trusted)).toBe(address);
  });

  it("returns the /64 network of an IPv6 address in one spelling", () => {
    const spellings = ["2001:db8:1:2::1", "2001:DB8:1:2:ffff::9", "2001:0db8:0001:0002:0000:0000:0000:0001"];
    for (const spelling of spellings) expect(clientAddress(spelling, undefined, trusted)).toBe("2001:db8:1:2::/64");
    expect(clientAddress("127.0.0.1", "2001:db8:1:3::1", trusted)).toBe("2001:db8:1:3::/64");
  });

  it("ignores addresses to the left of a trusted proxy's entry", () => {
    const entry = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constantFrom("127.0.0.1", "10.0.0.1", "::1"));
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 5 }), (written) => {
        const header = [...written, "203.0.113.9", "10.0.0.1"].join(", ");
        expect(clientAddress("127.0.0.1", header, trusted)).toBe("203.0.113.9");
      }),
    );
  });
});

describe("parseTrustedProxies", () => {
  it.each(["10.0.0.0/8", "10.0.0.1", "::1", "fd00::/8,10.1.0.0/16", " 10.0.0.1 , ::1 "])("accepts %j", (list) => {
    expect(parseTrustedProxies(list)).toHaveLength(list.split(",").length);
  });

  it.each(["", "proxy.example", "10.0.0.0/33", "10.0.0.1,", "*", "10.1/16", "::1/129"])("rejects %j", (list) => {
    expect(parseTrustedProxies(list)).toBeUndefined();
  });
});
