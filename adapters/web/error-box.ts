import { type Html, html } from "./html.js";

/** An error above a form, which screen readers announce immediately. Returns `undefined` without an error. */
export const errorBox = (error: string | undefined): Html | undefined =>
  error === undefined ? undefined : html`<p class="error" role="alert">${error}</p>`;
