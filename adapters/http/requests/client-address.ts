import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Networks of proxies, each with the length of its prefix in bits: only their `x-forwarded-for` counts. */
export type TrustedProxies = readonly (readonly [Address, number])[];

/** Reads a comma-separated list of addresses and networks. Returns `undefined` if an entry is neither. */
export const parseTrustedProxies = (list: string): TrustedProxies | undefined => {
  const entries = list.split(",").map((entry) => networkFrom(entry.trim()));
  return entries.every((entry) => entry !== undefined) ? entries : undefined;
};

/**
 * The client whose attempts are counted: an IPv4 address, or the /64 network of an IPv6 address, because one customer
 * of a provider has at least a /64. Reads `x-forwarded-for` from the right, where each proxy adds the address of its
 * peer, and stops at the first address that is no trusted proxy: everything to the left of it can be invented by the
 * client.
 */
export const clientAddress = (peer: string, forwardedFor: string | undefined, trusted: TrustedProxies): string => {
  let client = addressFrom(peer);
  if (client === undefined) return peer;
  const forwarded = forwardedFor?.split(",") ?? [];
  while (isTrusted(client, trusted)) {
    const previous = addressFrom(forwarded.pop()?.trim() ?? "");
    if (previous === undefined) break;
    client = previous;
  }
  return client instanceof ipaddr.IPv4 ? client.toString() : `${firstHalf(client)}/64`;
};

const isTrusted = (address: Address, trusted: TrustedProxies): boolean =>
  trusted.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));

/** An IPv4 address in IPv6 notation becomes an IPv4 address. */
const addressFrom = (text: string): Address | undefined =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text) ? ipaddr.process(text) : undefined;

const networkFrom = (text: string): readonly [Address, number] | undefined => {
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = addressFrom(text);
  return address && [address, address instanceof ipaddr.IPv4 ? 32 : 128];
};

const firstHalf = ({ parts }: ipaddr.IPv6): string =>
  new ipaddr.IPv6([...parts.slice(0, 4), 0, 0, 0, 0]).toRFC5952String();
