/** The part of a URL after the base URL; `undefined` if it leads elsewhere, where the API key must not be sent. */
export const pathBelow = (baseUrl: string, url: string): string | undefined =>
  url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : undefined;
