import ipaddr from "ipaddr.js";

/** Peers like these are proxies of ours, or the machine itself; anybody else may write what they like into a header. */
const NEAR = new Set(["loopback", "private", "uniqueLocal", "linkLocal"]);

/**
 * The network address that a request comes from. Behind a proxy of ours it is the last one that `x-forwarded-for` names:
 * the one that the proxy itself has added.
 */
export const clientAddress = (peer: string, forwardedFor: string | undefined): string => {
  const named = forwardedFor?.split(",").at(-1)?.trim() ?? "";
  return ipaddr.isValid(peer) && NEAR.has(ipaddr.process(peer).range()) && ipaddr.isValid(named) ? named : peer;
};
