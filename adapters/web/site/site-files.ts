import type { Page } from "../../web-page/page.js";
import type { Site } from "../identity.js";
import type { StaticFiles } from "../static-files.js";

const DAY_CACHE = { "cache-control": "public, max-age=86400" };

/** Pages that need a login or act on an account, and pages for programs. */
const ROBOTS = `User-agent: *
Disallow: /api/
Disallow: /works
Disallow: /account
Disallow: /login
Disallow: /signup
Disallow: /password/
`;

/** Files that browsers and search engines request at fixed paths. */
export const siteFiles = (files: StaticFiles, site: Site): readonly Page[] => [
  {
    method: "GET",
    path: "/favicon.ico",
    body: "none",
    handle: async () => ({
      status: 308,
      headers: { location: site.pages.length === 0 ? files.urlOf("favicon.png") : site.icons[0].url, ...DAY_CACHE },
      body: undefined,
    }),
  },
  {
    method: "GET",
    path: "/manifest.webmanifest",
    body: "none",
    handle: async () => ({
      status: 200,
      headers: {
        "content-type": "application/manifest+json",
        ...DAY_CACHE,
        "x-content-type-options": "nosniff",
      },
      body: JSON.stringify(manifestOf(site)),
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

/** The colour behind the page while it loads: `--ground` of client/styles/tokens.css. */
const GROUND = "#fbfaf9";

/** Web manifest, with which browsers install the site: https://www.w3.org/TR/appmanifest/. */
const manifestOf = ({ name, icons, accent }: Site): object => ({
  id: "/",
  name,
  start_url: "/",
  display: "minimal-ui",
  background_color: GROUND,
  theme_color: accent,
  icons: icons.map(({ url, type, sizes, purpose }) => ({ src: url, type, sizes, ...(purpose && { purpose }) })),
});
