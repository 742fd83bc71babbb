import { type Html, html, words } from "../html.js";

const PLACES = [
  { path: "/account", label: words`Credits` },
  { path: "/account/keys", label: words`Keys and usage` },
  { path: "/account/webhooks", label: words`Webhooks` },
  { path: "/account/settings", label: words`Settings` },
] as const;

/** The links between the pages of the account. */
export const accountNav = (current: (typeof PLACES)[number]["path"]): Html =>
  html`<nav class="places" aria-label="Account">${PLACES.map(
    ({ path, label }) => html`<a href="${path}"${path === current && html` aria-current="page"`}>${label}</a>`,
  )}</nav>`;
