import { lookup } from "node:dns/promises";
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../../adapters/system/public-address.js";

describe("isPublicAddress", () => {
  it.each([
    ["loopback", "127.0.0.1"],
    ["private", "10.0.0.1"],
    ["link local, cloud metadata", "169.254.169.254"],
    ["unspecified", "0.1.2.3"],
    ["shared (carrier-grade NAT)", "100.64.0.1"],
    ["shared, last", "100.127.255.255"],
    ["Azure's host", "168.63.129.16"],
    ["private", "172.31.255.255"],
    ["protocol assignments", "192.0.0.1"],
    ["protocol assignments, anycast", "192.0.0.9"],
    ["documentation", "192.0.2.1"],
    ["6to4 relay", "192.88.99.1"],
    ["benchmarks", "198.19.255.255"],
    ["documentation", "203.0.113.1"],
    ["multicast", "224.0.0.1"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["unspecified", "::"],
    ["IPv4-compatible, private", "::10.0.0.1"],
    ["IPv4-compatible, loopback", "::7f00:1"],
    ["IPv4-compatible, of a public address", "::8.8.8.8"],
    ["IPv4-mapped, private", "::ffff:10.0.0.1"],
    ["IPv4-mapped, Azure's host", "::ffff:168.63.129.16"],
    ["IPv4-translated", "::ffff:0:10.0.0.1"],
    ["not assigned", "1::1"],
    ["NAT64 of a private address", "64:ff9b::10.0.0.1"],
    ["NAT64 of the cloud metadata address", "64:ff9b::169.254.169.254"],
    ["local NAT64", "64:ff9b:1::1"],
    ["discard", "100::1"],
    ["dummy", "100:0:0:1::1"],
    ["Teredo", "2001::1"],
    ["benchmarks", "2001:2::1"],
    ["ORCHID", "2001:20::1"],
    ["documentation", "2001:db8::1"],
    ["6to4 of a private address", "2002:a00:1::1"],
    ["documentation", "3fff::1"],
    ["documentation, last", "3fff:fff:ffff::1"],
    ["not assigned", "4000::1"],
    ["segment routing", "5f00::1"],
    ["unique local", "fc00::1"],
    ["link local", "fe80::1"],
    ["site local", "fec0::1"],
    ["multicast", "ff02::1"],
    ["loopback", "::1"],
    ["link local with a zone", "fe80::1%1"],
  ])("refuses %s: %s", (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(["8.8.8.8", "100.63.255.255", "168.63.129.17", "198.20.0.1", "2606:4700::1", "2a00:1450::1"])(
    "accepts the public address %s",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it("refuses an IPv4-compatible address as the name lookup writes it", async () => {
    const { address } = await lookup("::808:808");
    expect(isPublicAddress(address)).toBe(false);
  });
});
