import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { describe, expect, it } from "vitest";
import { isPublicAddress, isPublicHost } from "../../domain/public-host.js";

describe("isPublicAddress", () => {
  it.each([
    [
      "the cloud's own addresses",
      ["169.254.169.254", "64:ff9b::169.254.169.254", "168.63.129.16", "::ffff:168.63.129.16"],
    ],
    ["IPv4 in IPv6", ["::8.8.8.8", "::ffff:10.0.0.1", "::ffff:0:10.0.0.1", "2002:a00:1::1"]],
    ["not assigned, and link local with a zone", ["4000::1", "fe80::1%1"]],
  ])("refuses %s: %j", (_, addresses) => {
    for (const address of addresses) expect([address, isPublicAddress(address)]).toEqual([address, false]);
  });

  it.each([
    [
      "",
      "localhost",
      "1.2.3",
      "1.2.3.256",
      "33.2.3.256",
      "01.2.3.0004",
      "0008.8.8.8",
      "8.8.8.8 ",
      "1::2::3",
      "2606:4700::g",
    ],
    ["::1]/x[", "2606:4700::1]/[", "x]@[2606:4700::1"],
  ])("refuses %j, which is no address", (...texts) => {
    for (const text of texts) expect([text, isPublicAddress(text)]).toEqual([text, false]);
  });

  /** Another author's list of the same networks. */
  const isPublicToOthers = (text: string): boolean => {
    const address = ipaddr.parse(text);
    const isGlobal = address instanceof ipaddr.IPv4 || address.match(ipaddr.IPv6.parseCIDR("2000::/3"));
    return isGlobal && address.range() === "unicast" && text !== "168.63.129.16";
  };

  it("agrees with ipaddr.js for random addresses and spellings", () => {
    const starts = ["", "2001:", "2001:4:112:", "2002:", "2620:4f:8000:", "3fff:0", "64:ff9b:", "fc", "fe8", "::ffff:"];
    const ipv6 = fc.tuple(fc.constantFrom(...starts), fc.ipV6());
    const near = ipv6.map(([start, address]) => `${start}${address}`).filter((text) => ipaddr.isValid(text));
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), near), (address) => {
        expect([address, isPublicAddress(address)]).toEqual([address, isPublicToOthers(address)]);
      }),
      { numRuns: 3000 },
    );
  });

  it("agrees with ipaddr.js at the edges of all of its special networks", () => {
    type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];
    const networks = [ipaddr.IPv4, ipaddr.IPv6].flatMap(({ prototype }) => {
      const { SpecialRanges } = prototype as unknown as { SpecialRanges: Record<string, Network | Network[]> };
      return Object.values(SpecialRanges).flatMap((range) => (Array.isArray(range[0]) ? range : [range]) as Network[]);
    });
    expect(networks.length).toBeGreaterThan(40);
    for (const [network, length] of networks) {
      const bytes = network.toByteArray();
      const digits = bytes.length * 8;
      const first = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
      const last = first + 2n ** BigInt(digits - length) - 1n;
      for (const edge of [first - 1n, first, last, last + 1n]) {
        if (edge < 0n || edge >= 2n ** BigInt(digits)) continue;
        const parts = bytes.map((_, index) => Number((edge >> BigInt(digits - 8 * (index + 1))) & 255n));
        const address = ipaddr.fromByteArray(parts).toString();
        expect([address, isPublicAddress(address)]).toEqual([address, isPublicToOthers(address)]);
      }
    }
  });
});

describe("isPublicHost", () => {
  const hostOf = (url: string) => isPublicHost(new URL(url).hostname);

  it.each([
    ["https://127.0.0.1./", "https://0x7f.1/", "https://2130706433/", "https://0177.0.0.1/", "https://0/"],
    ["https://10.0.0.7:8443/a.png", "https://\u{ff11}\u{ff10}.0.0.7/", "https://169.254.169.254/latest/meta-data"],
    ["https://[::1]/", "https://[::ffff:10.0.0.7]/", "https://[fd00::1]/"],
    ["https://localhost/", "https://LOCALHOST./", "https://files.localhost:8443/"],
  ])("refuses %s", (...urls) => {
    for (const url of urls) expect([url, hostOf(url)]).toEqual([url, false]);
  });

  it.each([
    ["https://8.8.8.8/", "https://8.8.8.8./", "https://[2606:4700::1]/", "https://example.com/"],
    ["https://localhost.example.com/", "https://mylocalhost/", "https://files.internal2/"],
    ["https://10.0.0.7.example.com/"],
  ])("accepts %s", (...urls) => {
    for (const url of urls) expect([url, hostOf(url)]).toEqual([url, true]);
  });

  it("decides about an address in a URL as about the address", () => {
    fc.assert(
      fc.property(fc.ipV4Extended(), (address) => {
        const { hostname } = new URL(`https://${address}/`);
        expect(isPublicHost(hostname)).toBe(isPublicAddress(hostname));
      }),
    );
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        expect(hostOf(`https://[${address}]/`)).toBe(isPublicAddress(address));
      }),
    );
  });
});
