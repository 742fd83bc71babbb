import { type Html, html, type Text } from "./html.js";

/** An error above a form, which screen readers announce immediately. Returns `undefined` without an error. */
export const errorBox = (error: Text | undefined): Html | undefined =>
  error === undefined ? undefined : html`<p class="error" role="alert">${error}</p>`;
