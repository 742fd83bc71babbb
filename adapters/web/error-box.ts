import { type Html, html } from "./html.js";

/** An error above a form; screen readers announce it at once. Nothing for `undefined`. */
export const errorBox = (error: string | undefined): Html | undefined =>
  error === undefined ? undefined : html`<p class="error" role="alert">${error}</p>`;
