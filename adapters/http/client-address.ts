import ipaddr from "ipaddr.js";

/** Only peers in these ranges are trusted as proxies: any other client can send any `x-forwarded-for`. */
const TRUSTED_RANGES = new Set(["loopback", "private", "uniqueLocal", "linkLocal"]);

/**
 * The IP address of the client. If the peer is a trusted proxy, this is the last address in `x-forwarded-for`, which
 * the proxy itself has added.
 */
export const clientAddress = (peer: string, forwardedFor: string | undefined): string => {
  if (forwardedFor === undefined) return peer;
  const forwarded = forwardedFor.split(",").at(-1)?.trim() ?? "";
  return ipaddr.isValid(peer) && TRUSTED_RANGES.has(ipaddr.process(peer).range()) && ipaddr.isValid(forwarded)
    ? forwarded
    : peer;
};
