import type { HashingBusy } from "../../../application/ports/secrets.js";
import type { SignUpMode, SignUpRefused } from "../../../domain/accounts/account.js";
import type { RateLimited } from "../../../domain/credits/rate-limit.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import { fieldMessage } from "../field-message.js";

/** How a form without a session answers a refusal: the status, and the sentence above the form. */
export type AttemptRefusal = {
  readonly status: number;
  readonly error: string;
  readonly headers?: Readonly<Record<string, string>>;
};

const BUSY_SECONDS = 5;

/** Why nobody can sign up on the page. */
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
