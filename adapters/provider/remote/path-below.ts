/** The part of a URL after the base URL; `undefined` for any other URL: the API key must not be sent there. */
export const pathBelow = (baseUrl: string, url: string): string | undefined =>
  url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : undefined;
