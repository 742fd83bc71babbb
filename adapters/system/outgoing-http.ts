import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { isPublicAddress } from "../../domain/public-host.js";

/** `Retry-After` by RFC 9110, seconds or a date, as milliseconds from `now`; `undefined` if it says nothing. */
export const retryAfterMilliseconds = (header: string | undefined, now: Date): number | undefined => {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
};

const PRODUCT = "panorama-service";

/** User agent for other hosts, of an installation without a name. */
export const ANONYMOUS_USER_AGENT = PRODUCT;

/**
 * The `User-Agent` of every request to another host: the caller, and the URL of its operator (`contact`). Hosts such
 * as Wikimedia refuse requests without it.
 */
export const userAgentOf = (version: string, contact: string): string => `${PRODUCT}/${version} (+${contact})`;

/** The name of a host resolves to an address that is not public. */
export class ForbiddenAddress extends Error {}

/** Reason why a URL chosen by somebody else must not be called. `undefined` if it may be, with `lookupPublic`. */
export const whyForbidden = (url: URL): string | undefined => {
  if (url.protocol !== "https:") return `${url.protocol} is not https:`;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  // DNS does not resolve a numeric address, so `lookupPublic` does not see it.
  return isIP(host) !== 0 && !isPublicAddress(host) ? `${host} is not a public address` : undefined;
};

/**
 * Resolves a name for a connection, if all of its addresses are public. The address is checked when it is used, so that
 * the DNS answer cannot change in between. Tests set `resolve` to ask a name server of their own.
 */
export const publicLookup =
  (resolve: LookupFunction): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, options, (error, found, family) => {
      if (error !== null) return callback(error, found, family);
      const addresses = typeof found === "string" ? [found] : found.map(({ address }) => address);
      const forbidden = addresses.find((address) => !isPublicAddress(address));
      if (forbidden === undefined) return callback(null, found, family);
      callback(new ForbiddenAddress(`${hostname} is ${forbidden}, not a public address`), found, family);
    });
  };

/** With the name servers of the system. */
export const lookupPublic: LookupFunction = publicLookup(lookup as LookupFunction);
