import type { HashingBusy } from "../../../application/ports/secrets.js";
import { EMAIL_CHARACTERS_MAX, type SignUpMode, type SignUpRefused } from "../../../domain/accounts/account.js";
import { PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN } from "../../../domain/accounts/password.js";
import type { RateLimited } from "../../../domain/credits/rate-limit.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import { cutAtWord } from "../../wording/shown.js";
import { fieldMessage } from "../field-message.js";
import { type Html, html } from "../html.js";
import { promptIn } from "../paths.js";

const PLACES = [
  { path: "/account", label: "Credits" },
  { path: "/account/keys", label: "Keys and usage" },
  { path: "/account/webhooks", label: "Webhooks" },
  { path: "/account/settings", label: "Settings" },
] as const;

/** The links between the pages of the account. */
export const accountNav = (current: (typeof PLACES)[number]["path"]): Html =>
  html`<nav class="cluster places" aria-label="Account">${PLACES.map(
    ({ path, label }) => html`<a href="${path}"${path === current && html` aria-current="page"`}>${label}</a>`,
  )}</nav>`;

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

/** Answer to a refused form without a session: the status, and the sentence above the form. */
export type AttemptRefusal = {
  readonly status: number;
  readonly error: string;
  readonly headers?: Readonly<Record<string, string>>;
};

const BUSY_SECONDS = 5;

/** Reason why the sign-up page is closed. */
export const NO_SIGN_UP: Readonly<Record<Exclude<SignUpMode, "open">, string>> = {
  invited: "Accounts of this service are opened by invitation. Ask the operator for a link.",
  closed: "This service opens no new accounts at the moment.",
};

export const attemptRefusal = (error: InvalidRequest | RateLimited | HashingBusy | SignUpRefused): AttemptRefusal => {
  switch (error.kind) {
    case "invalid_request":
      return { status: 400, error: fieldMessage(error) };
    case "rate_limited":
      return {
        status: 429,
        error: `Too many attempts. Try again in ${error.retryAfterSeconds} seconds.`,
        headers: { "retry-after": String(error.retryAfterSeconds) },
      };
    case "sign_up_refused":
      return { status: 403, error: NO_SIGN_UP[error.mode] };
    case "hashing_busy":
      return {
        status: 503,
        error: "Too many people are logging in at this moment. Try again in a few seconds.",
        headers: { "retry-after": String(BUSY_SECONDS) },
      };
  }
};

const PROMPT_CHARACTERS_MAX = 120;

/** A form or a message between the landing page and the works. `next`: where it leads, with the prompt that waits. */
export function gate(heading: string, next: string, content: Html): Html {
  const prompt = promptIn(next);
  return html`<div class="narrow"><h1>${heading}</h1>
${prompt !== undefined && html`<p class="kept">Almost there: <q dir="auto">${cutAtWord(prompt.replace(/\s+/g, " "), PROMPT_CHARACTERS_MAX)}</q></p>`}${content}</div>`;
}
