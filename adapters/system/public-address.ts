import ipaddr from "ipaddr.js";

/** Global unicast: everything else is special, or not assigned, such as `::/96` (IPv4-compatible addresses). */
const IPV6_GLOBAL = ipaddr.IPv6.parseCIDR("2000::/3");
/** Azure's virtual machines reach their host (DHCP, DNS, the guest agent) here, although the address looks public. */
const AZURE_HOST = "168.63.129.16";

/**
 * Whether the address is reachable on the Internet. No IPv6 address with an embedded IPv4 address counts as public
 * (mapped, translated, 6to4, Teredo).
 */
export const isPublicAddress = (text: string): boolean => {
  const address = ipaddr.parse(text);
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv6 ? address.match(IPV6_GLOBAL) : address.toString() !== AZURE_HOST;
};
