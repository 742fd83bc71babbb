import type { Page, PageRequest } from "../../web-page/page.js";
import { nextPath } from "../next-path.js";
import { redirect } from "../redirect.js";
import type { SessionGuard } from "../session-guard.js";
import { languageWith } from "./languages.js";

/** `POST /language`: keeps the reader's choice, and returns to the page that it was made on. */
export const languagePage = (guard: SessionGuard, publicUrl: string): Page => ({
  method: "POST",
  path: "/language",
  body: "fields",
  duringMaintenance: true,
  handle: guard.form(async (request) => {
    const chosen = languageWith(request.form.get("language"));
    return redirect(pathBefore(request, publicUrl), chosen && guard.keepLanguage(chosen.code));
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
