import { type Html, html } from "./html.js";

/** An icon of lines, 24 × 24, in the colour of the text. `path`: its SVG path. */
export const icon = (path: string): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path d="${path}"/></svg>`;
