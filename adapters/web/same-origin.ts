import type { PageRequest } from "../web-page/page.js";

/** Checks the `Origin` header, which every browser sends with a form. Also accepts the host of the request itself. */
export const isSameOrigin = ({ headers }: Pick<PageRequest, "headers">, publicUrl: URL): boolean => {
  const { origin } = headers;
  if (origin === undefined || !URL.canParse(origin)) return false;
  return origin === publicUrl.origin || new URL(origin).host === headers.host;
};
