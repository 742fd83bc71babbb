import { type Html, html } from "./html.js";

/** A date as people read it, such as "21 Nov 2026", in UTC. */
export const dateOf = (date: Date): Html => html`<time datetime="${date.toISOString()}">${formatted(date)}</time>`;

const formatted = (date: Date): string =>
  date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/** A time as people read it, such as "21 Nov 2026, 14:05 UTC". */
export const timeOf = (date: Date): Html =>
  html`<time datetime="${date.toISOString()}">${formatted(date)}, ${date.toISOString().slice(11, 16)} UTC</time>`;
