import type { Page } from "../../web-page/page.js";
import type { StaticFiles } from "../static-files.js";

const DAY_CACHE = { "cache-control": "public, max-age=86400" };

/** Pages that need a login or act on an account, and what is for programs. */
const ROBOTS = `User-agent: *
Disallow: /api/
Disallow: /works
Disallow: /account
Disallow: /login
Disallow: /signup
Disallow: /password/
`;

/** What browsers and search engines ask for by a fixed path: `/favicon.ico` and `/robots.txt`. */
export const siteFiles = (files: StaticFiles): readonly Page[] => [
  {
    method: "GET",
    path: "/favicon.ico",
    body: "none",
    handle: async () => ({
      status: 308,
      headers: { location: files.urlOf("favicon.png"), ...DAY_CACHE },
      body: undefined,
    }),
  },
  {
    method: "GET",
    path: "/robots.txt",
    body: "none",
    handle: async () => ({
      status: 200,
      headers: { "content-type": "text/plain; charset=utf-8", ...DAY_CACHE },
      body: ROBOTS,
    }),
  },
];
