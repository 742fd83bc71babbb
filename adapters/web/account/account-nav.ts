import { type Html, html } from "../html.js";

const PLACES = [
  { path: "/account", label: "Credits" },
  { path: "/account/keys", label: "Keys and usage" },
  { path: "/account/webhooks", label: "Webhooks" },
  { path: "/account/settings", label: "Settings" },
] as const;

/** The links between the pages of the account. */
export const accountNav = (current: (typeof PLACES)[number]["path"]): Html =>
  html`<nav class="places" aria-label="Account">${PLACES.map(
    ({ path, label }) => html`<a href="${path}"${path === current && html` aria-current="page"`}>${label}</a>`,
  )}</nav>`;
