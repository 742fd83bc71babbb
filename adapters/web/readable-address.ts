import type { Page } from "../web-page/page.js";

/**
 * An address that can be read. The answer to a form may have an address that only forms have: then it is the next page
 * above, such as `/account` for `/account/password`.
 */
export const readableAddress = (address: string, pages: readonly Page[]): string => {
  let [path = "/"] = address.split("?");
  const has = (method: Page["method"]) => pages.some((page) => page.method === method && isAt(page, path));
  if (!has("POST") || has("GET")) return address;
  while (!has("GET")) path = path.slice(0, path.lastIndexOf("/")) || "/";
  return path;
};

const isAt = ({ path }: Page, address: string): boolean => {
  const [parts, given] = [path.split("/"), address.split("/")];
  return parts.length === given.length && parts.every((part, n) => part.startsWith(":") || part === given[n]);
};
