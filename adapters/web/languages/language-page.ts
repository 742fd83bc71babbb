import type { Page, PageRequest } from "../../web-page/page.js";
import { nextPath } from "../next-path.js";
import { redirect } from "../redirect.js";
import type { SessionGuard } from "../session-guard.js";
import { languageWith } from "./languages.js";

/**
 * `POST /language`: keeps the reader's choice, and returns to the page that it was made on. The answer to a form may
 * have an address that only forms have: then it is the next page above, such as `/account` for `/account/password`.
 */
export const languagePage = (guard: SessionGuard, publicUrl: string, pages: () => readonly Page[]): Page => ({
  method: "POST",
  path: "/language",
  body: "fields",
  handle: guard.form(async (request) => {
    const chosen = languageWith(request.form.get("language"));
    return redirect(readable(pathBefore(request, publicUrl), pages()), chosen && guard.keepLanguage(chosen.code));
  }),
});

/** Browsers name it within this site. */
const pathBefore = ({ headers: { referer = "", host } }: PageRequest, publicUrl: string): string => {
  if (!URL.canParse(referer)) return "/";
  const before = new URL(referer);
  const path = before.pathname + before.search;
  const isHere = before.origin === new URL(publicUrl).origin || before.host === host;
  return isHere && nextPath(path) === path ? path : "/";
};

/** An address that is read: that of a form leads to the next page above. */
export const readable = (address: string, pages: readonly Page[]): string => {
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
