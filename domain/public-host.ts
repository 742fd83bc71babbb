/**
 * The special networks of IANA's registries (RFC 6890 and later), and Azure's host 168.63.129.16, where its virtual
 * machines reach DHCP, DNS and the guest agent. Of IPv6 only 2000::/3 is public, without its special networks. Embedded
 * IPv4 addresses are not: mapped, translated, 6to4, Teredo.
 */
const SPECIAL_IPV4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const;
const SPECIAL_IPV6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20],
] as const;
const GLOBAL_IPV6 = ["2000::", 3] as const;

/** The address as 32 or 128 binary digits; `undefined` for any other text. */
const bitsOf = (address: string): string | undefined => {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) {
    const bytes = address.split(".").map(Number);
    return bytes.every((byte) => byte <= 255) ? binary(bytes, 8) : undefined;
  }
  // Only this text is safe in the URL, whose parser writes every form of an address in one way.
  if (!/^[\da-f:.]+$/i.test(address) || !URL.canParse(`http://[${address}]`)) return undefined;
  const [head = [], tail = []] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))));
  return binary([...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail], 16);
};

const binary = (numbers: readonly number[], digits: number): string =>
  numbers.map((number) => number.toString(2).padStart(digits, "0")).join("");

const prefixOf = ([network, length]: readonly [string, number]): string => (bitsOf(network) ?? "").slice(0, length);

const [specialIpv4, specialIpv6] = [SPECIAL_IPV4.map(prefixOf), SPECIAL_IPV6.map(prefixOf)];
const globalIpv6 = prefixOf(GLOBAL_IPV6);

/** True if an IPv4 or IPv6 address is reachable on the Internet. False for any other text. */
export const isPublicAddress = (address: string): boolean => {
  const bits = bitsOf(address);
  if (bits === undefined) return false;
  const special = bits.length === 32 ? specialIpv4 : specialIpv6;
  return (bits.length === 32 || bits.startsWith(globalIpv6)) && !special.some((prefix) => bits.startsWith(prefix));
};

/**
 * False for non-public addresses and names of this machine (RFC 6761) as the `hostname` of a URL. Other names are
 * resolved and checked when they are called (adapters/system/outgoing-http.ts).
 */
export const isPublicHost = (hostname: string): boolean => {
  const host = hostname.replace(/\.$/, "");
  if (host.startsWith("[")) return isPublicAddress(host.slice(1, -1));
  if (/^[\d.]+$/.test(host)) return isPublicAddress(host);
  return host !== "localhost" && !host.endsWith(".localhost");
};
