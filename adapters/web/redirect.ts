import type { PageReply } from "../web-page/page.js";

/** Sends the browser to `path` with 303, so that reloading or going back does not send the form again. */
export const redirect = (path: string, headers: Readonly<Record<string, string>> = {}): PageReply => ({
  status: 303,
  headers: { location: path, "cache-control": "no-store", ...headers },
  body: undefined,
});
