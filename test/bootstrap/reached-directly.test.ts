import { describe, expect, it } from "vitest";
import { parseTrustedProxies } from "../../adapters/http/requests/client-address.js";
import { isReachedDirectly } from "../../bootstrap/config.js";

describe("whether other machines reach the service without a proxy", () => {
  it.each([
    ["127.0.0.1", "127.0.0.0/8,::1", false],
    ["127.1.2.3", "127.0.0.0/8,::1", false],
    ["::1", "127.0.0.0/8,::1", false],
    ["localhost", "127.0.0.0/8,::1", false],
    ["0.0.0.0", "127.0.0.0/8,::1", true],
    ["::", "127.0.0.1", true],
    ["192.0.2.7", "::1", true],
    ["0.0.0.0", "127.0.0.1,10.0.0.5", false],
    ["::", "fd00::/8", false],
  ])("HOST %s and TRUSTED_PROXIES %s: %s", (host, list, expected) => {
    expect(isReachedDirectly({ host, trustedProxies: parseTrustedProxies(list)! })).toBe(expected);
  });
});
