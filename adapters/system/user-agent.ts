const PRODUCT = "panorama-service";

/** What requests to foreign hosts say about an installation that does not name itself. */
export const ANONYMOUS_USER_AGENT = PRODUCT;

/**
 * What every request to a foreign host says: who calls, and where its operator can be found. Hosts such as Wikimedia
 * refuse requests that do not say it. `contact` is a URL.
 */
export const userAgentOf = (version: string, contact: string): string => `${PRODUCT}/${version} (+${contact})`;
