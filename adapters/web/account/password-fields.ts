import { EMAIL_CHARACTERS_MAX } from "../../../domain/accounts/account.js";
import { PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN } from "../../../domain/accounts/password.js";
import { type Html, html } from "../html.js";

export const emailField = (email: string): Html =>
  html`<label>E-mail address<input type="email" name="email" value="${email}" autocomplete="username"
maxlength="${EMAIL_CHARACTERS_MAX}" required></label>`;

/** The address that a link is for. */
export const ownEmailField = (email: string): Html =>
  html`<label>E-mail address<input type="email" name="email" value="${email}" autocomplete="username" readonly></label>`;

export const newEmailField = (email: string): Html =>
  html`<label>New e-mail address<input type="email" name="email" value="${email}" autocomplete="email"
maxlength="${EMAIL_CHARACTERS_MAX}" required></label>`;

/** Asks somebody who is logged in for the password again. */
export const ownPasswordField = html`<label>Current password<input type="password" name="current"
autocomplete="current-password" required></label>`;

export const newPasswordField = (
  label = "Password",
): Html => html`<label>${label}<input type="password" name="password" autocomplete="new-password" required
minlength="${PASSWORD_CHARACTERS_MIN}" maxlength="${PASSWORD_CHARACTERS_MAX}" aria-describedby="password-hint"></label>
<p class="hint" id="password-hint">At least ${PASSWORD_CHARACTERS_MIN} characters. A few random words make a good password.</p>`;
