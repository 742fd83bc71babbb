import { describe, expect, it } from "vitest";
import { clientAddress } from "../../../adapters/http/client-address.js";

describe("clientAddress", () => {
  it.each([
    ["203.0.113.9", undefined, "203.0.113.9"],
    ["203.0.113.9", "198.51.100.1", "203.0.113.9"], // a client outside can send any header
    ["127.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["10.1.2.3", "192.0.2.66, 198.51.100.1", "198.51.100.1"], // the client wrote the addresses before the last one
    ["::ffff:192.168.0.1", "2001:db8::1", "2001:db8::1"],
    ["127.0.0.1", "unknown", "127.0.0.1"],
    ["127.0.0.1", undefined, "127.0.0.1"],
  ])("for the peer %s with x-forwarded-for %s is %s", (peer, forwardedFor, address) => {
    expect(clientAddress(peer, forwardedFor)).toBe(address);
  });
});
